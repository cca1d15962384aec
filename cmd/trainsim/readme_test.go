package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/plots"
	"trainsim/scenarios"
)

// ours are the beginnings of command lines that this binary answers; others in
// the README are for a shell.
var ours = []string{"go run ./cmd/trainsim ", "trainsim "}

// TestReadmeCommands runs every "$ trainsim ..." line in a console block of the
// README and compares its stdout with the lines below it. A last line of "..."
// stands for the rest of the output.
func TestReadmeCommands(t *testing.T) {
	readme, err := filepath.Abs(filepath.Join(moduleRoot, "README.md"))
	require.NoError(t, err)
	text, err := os.ReadFile(readme)
	require.NoError(t, err)
	shipped, err := filepath.Abs(filepath.Join(moduleRoot, "scenarios"))
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.Symlink(shipped, "scenarios"))

	blocks := strings.Split(string(text), "```")
	ran := 0
	for i := 1; i < len(blocks); i += 2 {
		body, console := strings.CutPrefix(blocks[i], "console\n")
		if !console {
			continue
		}
		out, n := runBlock(t, body)
		if !*update {
			sameText(t, "README.md", body, out)
		}
		blocks[i] = "console\n" + out
		ran += n
	}
	assert.Greater(t, ran, 0)
	if *update {
		require.NoError(t, os.WriteFile(readme, []byte(strings.Join(blocks, "```")), 0o666))
	}
}

// The scenario that the README shows loads, and the mistake that it shows gives
// that message.
func TestReadmeScenario(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(moduleRoot, "README.md"))
	require.NoError(t, err)
	_, after, found := strings.Cut(string(text), "```toml\n")
	require.True(t, found)
	scenario, after, _ := strings.Cut(after, "```")
	_, err = scenarios.LoadReader(strings.NewReader(scenario), "my.toml", nil)
	require.NoError(t, err)

	_, after, found = strings.Cut(after, "What a mistake looks like (exit code 3):\n\n```\n")
	require.True(t, found)
	message, _, _ := strings.Cut(after, "\n```")
	_, err = scenarios.LoadReader(strings.NewReader(strings.ReplaceAll(scenario, "dgx-h100", "dgx-h10")), "my.toml", nil)
	assert.EqualError(t, err, message)
}

// runBlock returns a console block with the output that its commands have now,
// and how many of them it ran.
func runBlock(t *testing.T, body string) (out string, ran int) {
	var b strings.Builder
	parts := strings.Split("\n"+body, "\n$ ")
	b.WriteString(strings.TrimPrefix(parts[0], "\n"))
	for _, part := range parts[1:] {
		line, shown, _ := strings.Cut(part, "\n")
		b.WriteString("$ " + line + "\n")
		for _, prefix := range ours {
			args, ok := strings.CutPrefix(line, prefix)
			if !ok {
				continue
			}
			r := trainsim(strings.Fields(args)...)
			assert.Contains(t, []int{exitOK, exitUnrunnable}, r.code, "%s: %s", line, r.stderr)
			shown = visible(shown, r.stdout)
			ran++
			break
		}
		b.WriteString(shown)
		if shown != "" && !strings.HasSuffix(shown, "\n") {
			b.WriteString("\n")
		}
	}
	return b.String(), ran
}

// visible cuts output after as many lines as are shown before a last "...".
func visible(shown, output string) string {
	lines := strings.Split(strings.TrimSuffix(shown, "\n"), "\n")
	n := len(lines) - 1
	if lines[n] != "..." {
		return output
	}
	now := strings.SplitAfter(output, "\n")
	return strings.Join(now[:min(n, len(now))], "") + "...\n"
}

// The README says how to read each figure that a command writes by itself.
func TestReadmeExplainsTheFigures(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(moduleRoot, "README.md"))
	require.NoError(t, err)
	for _, e := range plots.Registry(plots.OfRun, plots.OfComparison, plots.OfSweep, plots.OfPlan) {
		assert.Contains(t, string(text), "**`"+e.Name+".png`**", e.Caption)
	}
}
