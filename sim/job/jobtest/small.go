// Package jobtest has small jobs for the tests of the packages that make jobs,
// account for them and run them.
package jobtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/interconnect"
	"trainsim/scenarios"
	"trainsim/sim"
	"trainsim/sim/gpu"
	"trainsim/sim/job"
	"trainsim/sim/model"
)

// Device reads a shipped preset.
func Device(t testing.TB, name string) gpu.Device {
	t.Helper()
	d, err := scenarios.LoadGPU(name)
	require.NoError(t, err)
	return *d
}

// Small is a GPT of a few layers on H100 nodes of eight.
func Small(t testing.TB, p job.Parallel, kind string, microbatches int) *job.Config {
	t.Helper()
	p.CP, p.EP = max(p.CP, 1), max(p.EP, 1)
	world := p.World()
	perNode := min(8, world)
	require.Zero(t, world%perNode)
	c := &job.Config{
		Name: "small", Seed: 1,
		Model: model.Config{Layers: 8, Hidden: 1024, Heads: 16, KVHeads: 16, FFN: 4096, Vocab: 32000, SeqLen: 1024,
			MLP: model.GELU, Norm: model.LayerNorm, Position: model.Rotary, Attention: model.Flash,
			LinearBias: true, QKVBias: true, FinalNorm: true},
		GPU: Device(t, "h100-sxm5-80gb"),
		Cluster: interconnect.Config{Nodes: world / perNode, GPUsPerNode: perNode, Kind: interconnect.NVSwitch,
			ComputeCapability: 90,
			NVLinks:           18, NVLinkBandwidth: 25e9, NVLinkLatency: 500 * sim.Nanosecond,
			NICs: 8, NICBandwidth: 50e9, NICLatency: 2 * sim.Microsecond},
		Parallel: p,
		Schedule: job.Schedule{Kind: kind, Microbatches: microbatches, MicrobatchSize: 1, VirtualStages: 1},
		Training: job.Training{Precision: "bf16", GradPrecision: "fp32", Optimizer: "adam", Recompute: "none"},
		Memory:   job.Memory{Fraction: 1},
	}
	SetFramework(t, c, "none")
	return c
}

// SetFramework gives a job the software of a preset.
func SetFramework(t testing.TB, c *job.Config, name string) {
	t.Helper()
	require.NoError(t, scenarios.SetFramework(c, name, "", "."))
}

// Bare takes communication, end layers and the host away, so that the closed
// forms of pipeline schedules hold exactly.
func Bare(c *job.Config) *job.Config {
	c.Model.Bare = true
	c.NCCL.Model = "free"
	return c
}

// Eager is a job of plain PyTorch on one GPU.
func Eager(t testing.TB) *job.Config {
	c := Small(t, job.Parallel{TP: 1, PP: 1, DP: 1}, "1f1b", 2)
	SetFramework(t, c, "eager")
	return c
}
