package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// longOperations writes a file of allocations whose replay takes a while.
func longOperations(t *testing.T, path string) {
	var b bytes.Buffer
	b.WriteString(`{"total": 85899345920, "ops": [`)
	for i := range 200_000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `["a",%d,%d,0]`, i, 1<<20+512*(i%4096))
		if i >= 1000 {
			fmt.Fprintf(&b, `,["f",%d]`, i-1000)
		}
	}
	b.WriteString("]}")
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o666))
}

// Every command that may take long answers Ctrl-C at once, with its exit code, and
// leaves no half of a file. -short takes those whose work is the quickest to begin.
func TestEveryCommandCanBeInterrupted(t *testing.T) {
	dir := t.TempDir()
	tables, err := filepath.Abs("../../scenarios/measured/testdata")
	require.NoError(t, err)
	longOperations(t, filepath.Join(dir, "ops.json"))
	require.Equal(t, exitOK, trainsim("run", "70b-tp4-pp2", "-q", "--no-plots", "-o", filepath.Join(dir, "saved")).code)
	kernels, runs := filepath.Join(tables, "gemm.csv"), filepath.Join(tables, "unseen_runs.csv")
	long := []string{"--set", "schedule.microbatches=65536"}
	replay := []string{"alloc", "replay", "ops.json"}
	for range 40 {
		replay = append(replay, "--conf", "max_split_size_mb:64")
	}
	sizes := "1024G" + strings.Repeat(",1024G", 20)
	for name, args := range map[string][]string{
		"run":           append([]string{"run", "pp4-gpipe-8", "-o", "r"}, long...),
		"run and draw":  {"run", "70b-tp4-pp2", "-o", "d", "--size", "10000x9000", "--format", "png,pdf,svg"},
		"compare":       append([]string{"compare", "pp4-gpipe-8", "pp4-1f1b-8", "-o", "c"}, long...),
		"memory":        append([]string{"memory", "pp4-gpipe-8"}, long...),
		"memory --max":  {"memory", "405b-16k", "--max", "model.seq_len"},
		"sweep":         {"sweep", "405b-16k", "--vary", "schedule.microbatches=16..64+16", "-o", "s", "--jobs", "1"},
		"plan":          {"plan", "405b-16k", "-o", "p"},
		"schedule":      {"schedule", "1f1b", "--pp", "256", "--microbatches", "10000"},
		"schedule json": {"schedule", "zb-h1", "--pp", "256", "--microbatches", "9000", "--format", "json", "-o", "x.json"},
		"schedule png":  {"schedule", "1f1b", "--pp", "256", "--microbatches", "10000", "--format", "png", "-o", "x.png"},
		"collective":    {"collective", "all-reduce", "--cluster", "dgx-h100", "--ranks", "64", "--sizes", sizes, "--with", "all-gather:1K"},
		"topo":          {"topo", "-"},
		"validate":      {"validate", runs, runs, runs},
		"calibrate":     {"calibrate", "--gpu", "a100-sxm4-80gb", kernels, kernels, kernels, "-o", "g.toml"},
		"plot":          {"plot", "saved", "--size", "10000x9000", "--format", "png,svg,pdf"},
		"alloc replay":  replay,
	} {
		if testing.Short() && name != "memory" && name != "schedule" && name != "topo" {
			continue
		}
		t.Run(name, func(t *testing.T) { interrupted(t, dir, args) })
	}
	left, err := filepath.Glob(filepath.Join(dir, "*", ".trainsim-*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

// interrupted starts a command line in a folder, interrupts it and looks at how it
// ends.
func interrupted(t *testing.T, dir string, args []string) {
	cmd := exec.Command(os.Args[0], append(args, "-q")...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), asProgram+"=1")
	stdin, err := cmd.StdinPipe() // which stays open, so that nothing comes from it
	require.NoError(t, err)
	defer stdin.Close()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
		t.Fatalf("it came to its end before it could be interrupted: %s", &errs)
	case <-time.After(400 * time.Millisecond):
	}
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	select {
	case <-ended:
	case <-time.After(10 * time.Second): // a second on a machine that does nothing else
		cmd.Process.Kill()
		t.Fatal("it does not stop")
	}
	assert.Equal(t, exitInterrupted, cmd.ProcessState.ExitCode(), "%s", &errs)
	assert.Contains(t, errs.String(), "trainsim: interrupted\n")
}
