package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/input"
	"trainsim/sim/report"
)

// result is what one command line did.
type result struct {
	code           int
	stdout, stderr string
}

// trainsim runs one command line with nothing on stdin.
func trainsim(args ...string) result {
	var out, errs bytes.Buffer
	code := run(context.Background(), args, strings.NewReader(""), &out, &errs)
	return result{code, out.String(), errs.String()}
}

func TestUsageErrorsExit2AndSuggest(t *testing.T) {
	tests := map[string]string{
		"":                 "trainsim: no command given",
		"versoin":          `trainsim: unknown command "versoin" for "trainsim"; did you mean "version"?`,
		"ver":              `trainsim: unknown command "ver" for "trainsim"; did you mean "version"?`,
		"zzz":              `trainsim: unknown command "zzz" for "trainsim"`,
		"help zzz":         `trainsim: unknown command "zzz" for "trainsim"`,
		"completion bsh":   `trainsim: unknown command "bsh" for "trainsim completion"; did you mean "bash"?`,
		"version --jsno":   "trainsim: unknown flag --jsno; did you mean --json?",
		"version --zzzzz":  "trainsim: unknown flag --zzzzz\n",
		"version -z":       "trainsim: unknown shorthand flag: 'z' in -z",
		"version extra":    `trainsim: unknown command "extra" for "trainsim version"`,
		"version --json=7": `trainsim: invalid argument "7" for "--json`,
	}
	for line, want := range tests {
		t.Run(line, func(t *testing.T) {
			r := trainsim(strings.Fields(line)...)
			assert.Equal(t, exitUsage, r.code)
			assert.Empty(t, r.stdout)
			assert.Contains(t, r.stderr, want)
			assert.Contains(t, r.stderr, "--help' for usage.\n")
		})
	}
}

func TestVersion(t *testing.T) {
	r := trainsim("version")
	assert.Equal(t, exitOK, r.code)
	assert.Regexp(t, `^trainsim \d+\.\d+\.\d+ \(go\S+ \w+/\w+\)\n$`, r.stdout)
	assert.Contains(t, trainsim("version", "--json").stdout, `"trainsim_version": "`+report.Version+`"`)
}

func TestHelpAndCompletion(t *testing.T) {
	for _, line := range []string{"--help", "help", "help version", "version -h", "completion bash", "completion zsh", "completion fish", "__complete ver"} {
		r := trainsim(strings.Fields(line)...)
		assert.Equal(t, exitOK, r.code, line)
		assert.NotEmpty(t, r.stdout, line)
	}
	assert.Contains(t, trainsim("--help").stdout, "Exit codes: 0 done")
}

// Every command says what it does, and takes no flag twice.
func TestEveryCommandIsDescribed(t *testing.T) {
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		assert.NotEmpty(t, c.Short, c.CommandPath())
		assert.Nil(t, c.Run, "%s: set RunE, not Run", c.CommandPath())
		for _, child := range c.Commands() {
			visit(child)
		}
	}
	visit(newRootCommand(&app{stdout: newResults(io.Discard), stderr: io.Discard}))
}

// withCommand runs `trainsim probe` with the given body.
func withCommand(ctx context.Context, stdout io.Writer, body func(a *app) error) (int, string) {
	commands = append(commands, func(a *app) *cobra.Command {
		return &cobra.Command{Use: "probe", RunE: func(*cobra.Command, []string) error { return body(a) }}
	})
	defer func() { commands = commands[:len(commands)-1] }()
	var errs bytes.Buffer
	code := run(ctx, []string{"probe"}, strings.NewReader("in"), stdout, &errs)
	return code, errs.String()
}

func TestExitCodes(t *testing.T) {
	boom := errors.New("boom")
	tests := []struct {
		err    error
		code   int
		stderr string
	}{
		{nil, exitOK, ""},
		{boom, exitFailure, "trainsim: boom\n"},
		{usagef("no %d", 7), exitUsage, "trainsim: no 7\nRun 'trainsim probe --help' for usage.\n"},
		{fmt.Errorf("a.txt: %w", badInput(boom)), exitInput, "trainsim: a.txt: boom\n"},
		{unrunnable(boom), exitUnrunnable, "trainsim: boom\n"},
		{fmt.Errorf("half: %w", context.Canceled), exitInterrupted, "trainsim: interrupted\n"},
	}
	for _, tt := range tests {
		code, stderr := withCommand(context.Background(), io.Discard, func(*app) error { return tt.err })
		assert.Equal(t, tt.code, code, "%v", tt.err)
		assert.Equal(t, tt.stderr, stderr)
	}
}

func TestPanicsEndAsOneLine(t *testing.T) {
	panicking := func(*app) error { panic("index out of range") }
	t.Setenv("TRAINSIM_DEBUG", "")
	code, stderr := withCommand(context.Background(), io.Discard, panicking)
	assert.Equal(t, exitFailure, code)
	assert.Equal(t, "trainsim: internal error: index out of range; please report it with the command line and its files\n", stderr)

	t.Setenv("TRAINSIM_DEBUG", "1")
	_, stderr = withCommand(context.Background(), io.Discard, panicking)
	assert.Contains(t, stderr, "goroutine")
}

func TestAFullDiskBehindStdoutIsAnError(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	code, stderr := withCommand(context.Background(), full, func(a *app) error {
		_, err := fmt.Fprintln(a.stdout, "result")
		return err
	})
	assert.Equal(t, exitFailure, code)
	assert.Equal(t, "trainsim: standard output: no space left on device\n", stderr)
}

func TestNotesObeyQuietAndWarningsDoNot(t *testing.T) {
	for quiet, want := range map[bool]string{false: "trainsim: warning: odd\n1 s\n", true: "trainsim: warning: odd\n"} {
		_, stderr := withCommand(context.Background(), io.Discard, func(a *app) error {
			a.quiet = quiet
			a.warnf("odd")
			a.notef("1 s")
			return a.progress(3, "runs").Add(1)
		})
		assert.Equal(t, want, stderr)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"run", "memory", "schedule", "sweep"}
	for name, want := range map[string]string{
		"rnu": "run", "memry": "memory", "shedule": "schedule", "sweeep": "sweep", "mem": "memory", "banana": "", "x": "", "SWEEP": "sweep",
	} {
		assert.Equal(t, want, input.Nearest(name, names), name)
	}
}

func listDir(t *testing.T, dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestReadFile(t *testing.T) {
	_, stderr := withCommand(context.Background(), io.Discard, func(a *app) error {
		data, err := a.readFile("-")
		assert.Equal(t, "in", string(data))
		return err
	})
	assert.Empty(t, stderr)
	_, err := (&app{}).readFile("no-such-file")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// Ctrl-C ends a command that waits for its input.
func TestInterruptedWhileReadingStdin(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	in, writer := io.Pipe()
	defer writer.Close()
	go func() {
		io.WriteString(writer, "name = \"x\"\n")
		cancel()
	}()
	var errs bytes.Buffer
	assert.Equal(t, exitInterrupted, run(ctx, []string{"run", "-"}, in, io.Discard, &errs))
	assert.Equal(t, "trainsim: interrupted\n", errs.String())
}
