package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/input"
	"trainsim/sim/report"
)

func TestRunWritesFiguresThatPlotRedraws(t *testing.T) {
	t.Chdir(t.TempDir())
	r := trainsim("run", "pp4-1f1b-8", "--out", "out", "--trace", "out/trace.json.gz", "--timing")
	require.Equal(t, exitOK, r.code, r.stderr)
	assert.Contains(t, r.stdout, "pp4-1f1b-8")
	assert.Contains(t, r.stderr, "events in ")
	for _, name := range []string{"pipeline.png", "memory.png", "memory-stages.png", "breakdown.png", "report.json", "run.json", "trace.json.gz"} {
		assert.FileExists(t, filepath.Join("out", name))
	}
	f, err := os.Open("out/trace.json.gz")
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	var events any
	require.NoError(t, json.NewDecoder(z).Decode(&events))

	first, err := os.ReadFile("out/pipeline.png")
	require.NoError(t, err)
	r = trainsim("plot", "out/run.json", "--out", "again")
	require.Equal(t, exitOK, r.code, r.stderr)
	assert.Empty(t, r.stdout)
	again, err := os.ReadFile("again/pipeline.png")
	require.NoError(t, err)
	assert.True(t, bytes.Equal(first, again), "the redrawn figure differs")
	require.NoError(t, os.Remove("out/pipeline.png"))
	r = trainsim("plot", "out") // the folder that has it
	require.Equal(t, exitOK, r.code, r.stderr)
	assert.FileExists(t, "out/pipeline.png")
	assert.Equal(t, exitOK, trainsim("plot", "out/run.json", "--format", "svg", "--title", "x", "-q").code)
	assert.FileExists(t, "out/pipeline.svg")
}

// A folder does not mix two runs: figures of the one before go, unless it was the
// same run, and files that are nobody's stay.
func TestAFolderHoldsOneRun(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("d", 0o777))
	require.NoError(t, os.WriteFile("d/memory.png", []byte("mine"), 0o666))
	run := func(scenario string, more ...string) result {
		r := trainsim(append([]string{"run", scenario, "-o", "d"}, more...)...)
		require.Equal(t, exitOK, r.code, r.stderr)
		return r
	}
	run("pp4-1f1b-8", "--no-plots")
	assert.FileExists(t, "d/memory.png", "no run of trainsim was there")
	run("pp4-1f1b-8", "--format", "png,svg")
	run("pp4-1f1b-8", "--no-plots")
	assert.FileExists(t, "d/pipeline.png", "the same run")
	r := run("pp4-gpipe-8", "--no-plots")
	assert.Contains(t, r.stderr, "removed "+filepath.Join("d", "pipeline.svg")+", which is of other results\n")
	assert.Equal(t, []string{"report.json", "run.json"}, listDir(t, "d"))
	run("pp4-1f1b-8")
	run("pp4-gpipe-8", "--format", "svg")
	assert.NoFileExists(t, "d/pipeline.png")
	assert.FileExists(t, "d/pipeline.svg")

	r = trainsim("run", "1b-static", "--no-plots", "-q", "-o", "e")
	require.Equal(t, exitOK, r.code, r.stderr)
	r = trainsim("plot", "d", "-o", "e")
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.stderr, filepath.Join("e", "run.json")+" is another run than "+filepath.Join("d", "run.json"))
	assert.Equal(t, exitOK, trainsim("plot", "d", "-q", "-o", "d").code)
}

func TestTimingIsInTheReportOnlyWhenAskedFor(t *testing.T) {
	t.Chdir(t.TempDir())
	assert.NotContains(t, trainsim("run", "1b-static", "--no-plots", "--json").stdout, "wall_s")
	assert.Contains(t, trainsim("run", "1b-static", "--no-plots", "--json", "--timing").stdout, `"wall_s"`)
}

func TestRunOutOfMemoryExits4WithAWholeReport(t *testing.T) {
	t.Chdir(t.TempDir())
	r := trainsim("run", "7b-dp8-8x24gb", "--quiet")
	assert.Equal(t, exitUnrunnable, r.code)
	assert.Contains(t, r.stdout, "OUT OF MEMORY")
	assert.Contains(t, r.stdout, "Assumptions")
	assert.Regexp(t, `^trainsim: 7b-dp8-8x24gb: out of memory on rank 0 \(stage 0\) in start-up: \d+\.\d GiB needed, 23\.6 GiB there\n$`, r.stderr)
	assert.FileExists(t, "trainsim-out/7b-dp8-8x24gb/memory-stages.png")
	drawn, err := os.ReadFile("trainsim-out/7b-dp8-8x24gb/allocator.png")
	require.NoError(t, err)
	require.Zero(t, trainsim("plot", "trainsim-out/7b-dp8-8x24gb", "--out", "again").code)
	again, err := os.ReadFile("again/allocator.png")
	require.NoError(t, err)
	assert.Equal(t, drawn, again)
}

func TestRunOfSeveralScenarios(t *testing.T) {
	t.Chdir(t.TempDir())
	r := trainsim("run", "pp4-gpipe-1", "1b-static", "--no-plots", "--json", "--out", "o")
	require.Equal(t, exitOK, r.code, r.stderr)
	var reports []report.Report
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &reports))
	assert.Len(t, reports, 2)
	assert.FileExists(t, "o/pp4-gpipe-1/run.json")
	assert.FileExists(t, "o/1b-static/run.json")

	r = trainsim("run", "1b-static", "1b-static")
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.stderr, "give one of them another name")
	r = trainsim("run", "1b-static", "pp4-gpipe-1", "--trace", "t.json")
	assert.Equal(t, exitUsage, r.code)
}

func TestPrintedScenarioRunsTheSame(t *testing.T) {
	t.Chdir(t.TempDir())
	r := trainsim("run", "tp4-one-node", "--print-scenario", "--set", "schedule.microbatches=2", "--seed", "7")
	require.Equal(t, exitOK, r.code, r.stderr)
	assert.Contains(t, r.stdout, "seed = 7\n")
	require.NoError(t, os.WriteFile("resolved.toml", []byte(r.stdout), 0o666))
	want := trainsim("run", "tp4-one-node", "--no-plots", "--json", "--set", "schedule.microbatches=2", "--seed", "7")
	got := trainsim("run", "resolved.toml", "--no-plots", "--json")
	assert.Equal(t, want.stdout, got.stdout)

	var out, errs bytes.Buffer
	assert.Equal(t, exitOK, run(context.Background(), []string{"run", "-", "--no-plots", "--json"}, strings.NewReader(r.stdout), &out, &errs), errs.String())
	assert.Equal(t, want.stdout, out.String())
	assert.True(t, json.Valid([]byte(trainsim("run", "tp4-one-node", "--print-scenario", "--json").stdout)))
}

func TestWritesThatFailAreErrorsButTheReportIsPrinted(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("file", nil, 0o666))
	for _, tt := range [][]string{
		{"--out", "file"}, {"--out", "file", "--json"}, {"--trace", "file/t.json"}, {"--trace", "/dev/full"},
	} {
		r := trainsim(append([]string{"run", "1b-static", "-q"}, tt...)...)
		assert.Equal(t, exitFailure, r.code, tt)
		assert.Regexp(t, `^trainsim: cannot write (file/\S+|/dev/full): (not a directory|no space left on device)\n$`, r.stderr)
		assert.NotEmpty(t, r.stdout)
	}
}

func TestRunStopsWhenToldTo(t *testing.T) {
	t.Chdir(t.TempDir())
	r := trainsim("run", "1b-static", "--max-events", "10", "-q")
	assert.Equal(t, exitFailure, r.code)
	assert.Contains(t, r.stderr, "1b-static: event limit reached: 10 events")
	assert.Empty(t, r.stdout)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	assert.Equal(t, exitInterrupted, run(ctx, []string{"run", "70b-tp4-pp2"}, strings.NewReader(""), &out, &errs))
	assert.Equal(t, "trainsim: interrupted\n", errs.String())
	assert.NoDirExists(t, "trainsim-out")
}

func TestInvalidScenariosExit3(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("dir.toml", 0o777))
	files := map[string]string{
		"not-toml": "hello world", "unknown-key": "[model]\nfoo = 1", "wrong-type": "[parallel]\ntp = \"two\"",
		"no-unit": "[gpu]\nmemory = 80", "nan": "[memory]\nmemory_fraction = nan", "negative": "[parallel]\npp = -1",
		"preset": "[model]\npreset = \"llama-3-70c\"", "empty": "", "binary": "\x00\x01\xff",
		"large": strings.Repeat("#", 5<<20),
	}
	for name, text := range files {
		require.NoError(t, os.WriteFile(name+".toml", []byte(text), 0o666))
	}
	for _, name := range []string{"not-toml", "unknown-key", "wrong-type", "no-unit", "nan", "negative", "preset", "empty", "binary", "large", "dir", "missing"} {
		for _, command := range []string{"run", "memory"} {
			r := trainsim(command, name+".toml")
			assert.Equal(t, exitInput, r.code, name)
			assert.Empty(t, r.stdout, name)
			assert.True(t, strings.HasPrefix(r.stderr, name+".toml:"), "%s: %s", name, r.stderr)
			assert.Less(t, len(r.stderr), 10_000, name)
		}
	}
	r := trainsim("run", "unknown-key.toml", "preset.toml", "--json")
	assert.Equal(t, exitInput, r.code)
	var doc struct {
		Schema   string
		Problems []input.Problem
	}
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &doc))
	assert.Equal(t, errorsSchema, doc.Schema)
	assert.Contains(t, r.stdout, `"file": "unknown-key.toml"`)
	assert.Contains(t, r.stdout, `"file": "preset.toml"`)
}

// Nothing of a file or its name is a command to a terminal, and a name that no
// folder can have is refused before anything is simulated.
func TestNamesAreCheckedFirst(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range [][]string{
		{"run", "1b-static", "--set", `name="\u001b[31mred"`}, {"run", "1b-static", "--set", "name=" + strings.Repeat("x", 300)},
		{"run", "no\x1b[31m.toml"}, {"memory", "1b-static", "--set", "\x1b[31m=1"}, {"plot", "no\x1b[31m.json"},
	} {
		r := trainsim(args...)
		assert.Equal(t, exitInput, r.code, args)
		assert.NotContains(t, r.stdout+r.stderr, "\x1b")
		assert.Empty(t, r.stdout)
	}
	assert.Empty(t, listDir(t, "."))
}

// Anything behind a JSON document is refused with its line, blanks aside.
func TestJSONEndsWhereItEnds(t *testing.T) {
	t.Chdir(t.TempDir())
	require.Equal(t, exitOK, trainsim("run", "1b-static", "-q", "--no-plots", "-o", "d").code)
	text, err := os.ReadFile("d/run.json")
	require.NoError(t, err)
	line := 1 + strings.Count(string(text), "\n")
	for behind, at := range map[string]int{" \n\t\r\n": 0, "\ngarbage\n": line + 1, "{}": line, "]": line, "\n\n" + string(text): line + 2} {
		require.NoError(t, os.WriteFile("d/run.json", append(bytes.Clone(text), behind...), 0o666))
		r := trainsim("plot", "d", "-q")
		if at == 0 {
			assert.Equal(t, exitOK, r.code, "%.20q: %s", behind, r.stderr)
			continue
		}
		assert.Equal(t, exitInput, r.code, "%.20q", behind)
		want := fmt.Sprintf("%s:%d: more stands behind the document; write one run in a file", filepath.Join("d", "run.json"), at)
		assert.Contains(t, r.stderr, want, "%.20q", behind)
	}
}

func TestPlotRefusesWhatIsNoRun(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("x.json", []byte(`{"schema": "other"}`), 0o666))
	for arg, name := range map[string]string{"x.json": "x.json", "missing.json": "missing.json", ".": ".", "-": "standard input"} {
		r := trainsim("plot", arg)
		assert.Equal(t, exitInput, r.code, name)
		assert.True(t, strings.HasPrefix(r.stderr, "trainsim: "+name+": "), r.stderr)
	}
	r := trainsim("plot", "x.json", "--format", "gif")
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.stderr, `--format "gif": write png, svg, pdf`)
}

func TestMemory(t *testing.T) {
	r := trainsim("memory", "1b-static")
	assert.Equal(t, exitOK, r.code, r.stderr)
	assert.Contains(t, r.stdout, "1b-static: memory of the fullest GPU of each stage at its peak, in GiB")

	r = trainsim("memory", "7b-dp8-8x24gb", "--json")
	assert.Equal(t, exitUnrunnable, r.code)
	assert.Equal(t, "trainsim: 7b-dp8-8x24gb: does not fit into memory\n", r.stderr)
	var m memoryAccount
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &m))
	assert.False(t, m.Fits)
	at := m.MemoryPerStage[0].AtPeak
	assert.InDelta(t, 112e9, float64(at.Weights+at.Gradients+at.Optimizer), 1e9)
}

func TestFolderNames(t *testing.T) {
	for name, want := range map[string]string{"70b-tp4-pp2": "70b-tp4-pp2", "a/b": "a-b", "..": "unnamed", "": "unnamed", "x\n": "x-"} {
		assert.Equal(t, want, fileName(name))
	}
}

func TestListAndExplain(t *testing.T) {
	for _, kind := range allKinds() {
		r := trainsim("list", kind)
		assert.Equal(t, exitOK, r.code)
		for line := range strings.Lines(r.stdout) {
			if line != "\n" { // above the machines of published runs
				assert.Greater(t, len(strings.Fields(line)), 1, "%s: %q has no description", kind, line)
			}
		}
		assert.True(t, json.Valid([]byte(trainsim("list", kind, "--json").stdout)))
	}
	assert.Contains(t, trainsim("list", "scenarios", "70b-tp4-pp2").stdout, `preset = "llama-2-70b"`)
	general, published, ok := strings.Cut(trainsim("list", "clusters").stdout, "\nMachines of published runs")
	assert.True(t, ok)
	assert.Contains(t, general, "dgx-h100")
	assert.NotContains(t, general, "vtrain-a100-80gb")
	assert.Contains(t, published, "vtrain-a100-80gb   vTrain (Bang et al. 2024) ")
	assert.NotContains(t, published, "dgx-h100")
	assert.Contains(t, trainsim("list", "schedules", "1F1B").stdout, "1f1b: ")
	assert.Contains(t, trainsim("list", "figures", "links").stdout, "drawn by: trainsim run")
	assert.Contains(t, trainsim("list", "figures", "lonks").stderr, `did you mean "links"`)
	assert.Contains(t, trainsim("list", "gpuss").stderr, `did you mean "gpus"?`)
	assert.Equal(t, exitUsage, trainsim("list", "models", "nothing-like-it").code)
	assert.Equal(t, exitUsage, trainsim("list", "schedules", "nothing-like-it").code)
	assert.Equal(t, exitUsage, trainsim("list").code)

	assert.Contains(t, trainsim("explain", "parallel.zero").stdout, "parallel.zero\n  ")
	assert.Contains(t, trainsim("explain", "over_ideal").stdout, "bubble.over_ideal\n  ")
	assert.Contains(t, trainsim("explain").stdout, "schedule.microbatches")
	assert.True(t, json.Valid([]byte(trainsim("explain", "zero", "--json").stdout)))
	assert.True(t, json.Valid([]byte(trainsim("explain", "--json").stdout)))
	r := trainsim("explain", "paralel.zero")
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.stderr, `did you mean "parallel.zero"?`)
}

// A failed write behind a report is an error of the command.
func TestAFullDiskBehindAReport(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	t.Chdir(t.TempDir())
	for _, args := range [][]string{{"run", "1b-static", "--no-plots", "-q"}, {"list", "models"}, {"explain"}, {"memory", "1b-static"}, {"run", "--help"}} {
		var errs bytes.Buffer
		assert.Equal(t, exitFailure, run(context.Background(), args, strings.NewReader(""), full, &errs), args)
		assert.Equal(t, "trainsim: standard output: no space left on device\n", errs.String())
	}
}

// What shards already is not told to shard.
func TestAdviceOnExposedGradientsKnowsTheSharding(t *testing.T) {
	for zero, want := range map[string]string{
		"0": ", or shard (parallel.zero = 1) [dp-comm-exposed]", "1": "(parallel.overlap_param_gather) [dp-comm-exposed]",
	} {
		r := trainsim("run", "ddp8-small-pcie", "--no-plots", "--out", t.TempDir(), "--set", "parallel.zero="+zero)
		require.Equal(t, exitOK, r.code, r.stderr)
		assert.Contains(t, r.stdout, want)
		assert.Equal(t, zero == "0", strings.Contains(r.stdout, "shard (parallel.zero = 1)"))
	}
}
