package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/scenarios"
	"trainsim/sim/report"
)

// go test ./cmd/trainsim -update rewrites the golden files and the output that
// README.md shows. A number that moves belongs in CHANGELOG.md.
var update = flag.Bool("update", false, "rewrite golden files and the README's output")

var goldenDir = func() string {
	dir, err := filepath.Abs("testdata/golden")
	if err != nil {
		panic(err)
	}
	return dir
}()

// golden compares text with a file; a missing file is an empty one.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join(goldenDir, name)
	if *update {
		if got == "" {
			os.Remove(path)
			return
		}
		require.NoError(t, os.MkdirAll(goldenDir, 0o777))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o666))
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	sameText(t, name, string(want), got)
}

// sameText compares texts and shows the lines that differ, not all of them.
func sameText(t *testing.T, name, want, got string) {
	t.Helper()
	if want == got {
		return
	}
	var b strings.Builder
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		var x, y string
		if i < len(w) {
			x = w[i]
		}
		if i < len(g) {
			y = g[i]
		}
		if x != y && b.Len() < 2000 {
			fmt.Fprintf(&b, "\n%d -%s\n%d +%s", i+1, x, i+1, y)
		}
	}
	t.Errorf("%s differs; if the change is meant, go test ./cmd/trainsim -update%s", name, b.String())
}

// Every built-in scenario runs once: it keeps the invariants of a run and says
// in its exit code whether it fits; its report, as people read it, is the golden
// one. What a number has to be is tested where it is computed; this shows that
// one moved. Scenarios that take a moment run again, with one processor and as
// JSON, and give the bytes that the first run left in its folder.
func TestEveryScenario(t *testing.T) {
	expected := []string{"keys.txt"}
	for _, name := range scenarios.Names() {
		expected = append(expected, name+".stdout", name+".stderr")
		if testing.Short() && slices.Contains(slow, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			r := trainsim("run", name, "--check", "--quiet", "--no-plots")
			golden(t, name+".stdout", r.stdout)
			golden(t, name+".stderr", r.stderr)

			saved, err := os.ReadFile(filepath.Join("trainsim-out", name, "report.json"))
			require.NoError(t, err)
			var rep report.Report
			require.NoError(t, json.Unmarshal(saved, &rep))
			assert.Contains(t, []int{exitOK, exitUnrunnable}, r.code, r.stderr)
			assert.Equal(t, r.code == exitUnrunnable, rep.OOM != nil)
			if testing.Short() || slices.Contains(slow, name) {
				return
			}
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			sameText(t, name+" again", string(saved), trainsim("run", name, "--no-plots", "--json").stdout)
		})
	}
	for _, file := range listDir(t, goldenDir) {
		assert.Contains(t, expected, file, "a golden file that no test reads")
	}
}

// slow are the built-in scenarios that take over a second: their golden reports
// alone tell that they give the same bytes.
var slow = []string{"405b-16k", "fragmentation-expandable", "70b-lora-8xa800-oom"}

// A key of the JSON report is never renamed or dropped.
func TestGoldenJSONKeys(t *testing.T) {
	t.Chdir(t.TempDir())
	keys := map[string]bool{}
	for _, args := range [][]string{{"70b-tp4-pp2", "--timing"}, {"7b-dp8-8x24gb"}} {
		var doc map[string]any
		out := trainsim(append([]string{"run", "--json", "--no-plots", "-q"}, args...)...).stdout
		require.NoError(t, json.Unmarshal([]byte(out), &doc))
		delete(doc, "scenario")
		keyPaths("", doc, keys)
	}
	var list []string
	for k := range keys {
		list = append(list, k)
	}
	slices.Sort(list)
	golden(t, "keys.txt", strings.Join(list, "\n")+"\n")
}

// keyPaths collects the paths of all keys; elements of an array share one.
func keyPaths(at string, v any, out map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if at == "advice[].change" { // scenario keys, not the report's
				return
			}
			path := strings.TrimPrefix(at+"."+k, ".")
			out[path] = true
			keyPaths(path, x, out)
		}
	case []any:
		for _, x := range v {
			keyPaths(at+"[]", x, out)
		}
	}
}
