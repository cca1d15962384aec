package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The key may stand without its table.
func TestMaxOfAKeyWithoutItsTable(t *testing.T) {
	r := trainsim("memory", "1b-static", "--max", "microbatch_size")
	require.Zero(t, r.code, r.stderr)
	assert.Contains(t, r.stdout, "schedule.microbatch_size = ")
	assert.Equal(t, r.stdout, trainsim("memory", "1b-static", "--max", "schedule.microbatch_size").stdout)
}

// The table of optimizers: 20 bytes for 16-bit gradients beside Adam, and what
// the others save.
func TestExplainHasTheOptimizers(t *testing.T) {
	r := trainsim("memory", "1b-static", "--explain", "--set", "training.grad_precision=fp16", "--set", "training.precision=fp16")
	require.Zero(t, r.code, r.stderr)
	assert.Regexp(t, `(?m)^ +adam +2 +2 +4 +4 +8 +20  <- this job$`, r.stdout)
	assert.Regexp(t, `(?m)^ +sgd-momentum +2 +2 +4 +4 +4 +16$`, r.stdout)
	assert.Regexp(t, `(?m)^ +adam-8bit +2 +2 +4 +4 +2 +14$`, r.stdout)
}

// A limit that the job sets itself is what it is told of, not the device.
func TestMemoryFractionIsNamed(t *testing.T) {
	limited := []string{"fragmentation-lengths", "--set", "memory.memory_fraction=0.6", "--set", "data.steps=2"}
	r := trainsim(append([]string{"memory"}, limited...)...)
	assert.Equal(t, exitUnrunnable, r.code)
	assert.Regexp(t, `It does not fit: stage 0 needs [0-9.]+ GiB reserved of the 23\.8 GiB that memory\.memory_fraction allows`, r.stdout)
	assert.Contains(t, r.stdout, "memory.memory_fraction = 1.0 (")
	r = trainsim(append([]string{"run", "--no-plots", "--out", t.TempDir()}, limited...)...)
	assert.Equal(t, exitUnrunnable, r.code)
	assert.Contains(t, r.stdout, "of 39.59 GiB, 23.75 GiB allowed to PyTorch by memory.memory_fraction: ")
	assert.NotContains(t, r.stdout+r.stderr, "of 39.6 GiB")
	assert.Contains(t, r.stderr, "GiB reserved of the 23.8 GiB that memory.memory_fraction allows")
}

// Batches that wait on the GPU are told from other temporaries.
func TestPrefetchedBatchesAreNamed(t *testing.T) {
	r := trainsim("run", "prefetch-32x8", "--no-plots", "--out", t.TempDir())
	assert.Equal(t, exitUnrunnable, r.code)
	assert.Contains(t, r.stdout, "12.00 GiB of the temporaries are batches that wait on the GPU: 32 workers x 8 batches x 48.00 MiB")
	assert.Contains(t, r.stdout, "with 12.0 GiB of prefetched batches")
	r = trainsim("memory", "prefetch-32x8", "--explain")
	assert.Regexp(t, `(?m)^ +temporaries +12\.000 +prefetched batches +32 workers x 8 batches x 50331648 B$`, r.stdout)
	assert.Regexp(t, `(?m)^ +temporaries +1\.5\d\d +temporaries `, r.stdout)
}

// Of activations what is not there at the peak says so.
func TestExplainTellsTheEvaluation(t *testing.T) {
	r := trainsim("memory", "evaluation-with-graph", "--explain")
	assert.Regexp(t, `(?m)^ +activations +10\.\d+ +activations +1 micro-batches .*, not at the peak$`, r.stdout)
	assert.Regexp(t, `(?m)^ +activations +32\.\d+ +activations of the evaluation +a pass of 12 sequences: .* work$`, r.stdout)
}

// What is wrong with the key is said of --max, and a key of an evaluation that
// there is not is no answer.
func TestMaxNamesItself(t *testing.T) {
	r := trainsim("memory", "1b-static", "--max", "foo")
	assert.Equal(t, exitInput, r.code)
	assert.Regexp(t, `^--max: foo: is not a key of a scenario`, r.stderr)
	assert.NotContains(t, r.stderr, "--set:")
	r = trainsim("memory", "70b-tp4-pp2", "--max", "batch_size")
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.stderr, "write schedule.microbatch_size")
	assert.Contains(t, r.stderr, "--set evaluation.batches=1")
}
