package model

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/sim/gpu"
)

// TestRescale: FP8 shares its largest values once a chunk and direction, other
// formats never.
func TestRescale(t *testing.T) {
	count := func(p gpu.Dtype, layers int) (n int) {
		s := gpt(1, false)
		s.Precision = p
		c := s.Build(Run{Layers: layers})
		for _, op := range append(c.Forward, c.Backward...) {
			if op.Kind == Communicate && op.Comm.Group == Amax {
				n++
			}
		}
		return n
	}
	assert.Equal(t, 2, count(gpu.FP8, 1))
	assert.Equal(t, 2, count(gpu.FP8, 4))
	assert.Zero(t, count(gpu.BF16, 4))
}

// fp8 is the GPT layer of the formulas with Transformer Engine's modules.
func fp8(tp int64, sp bool, p gpu.Dtype) *Spec {
	s := gpt(tp, sp)
	s.Attention, s.Modules, s.Precision = Flash, EngineModules, p
	return s
}

// TestFP8Keeps: of a product's input 8 bits stay instead of 16, and beside the
// context, which attention keeps in 16 bits, another 8 for the projection.
func TestFP8Keeps(t *testing.T) {
	const sbh = 512 * 4 * 1024
	for _, tp := range []int64{1, 2, 4, 8} {
		less := func(sp bool) int64 { return saved(fp8(tp, sp, gpu.BF16)) - saved(fp8(tp, sp, gpu.FP8)) }
		assert.EqualValues(t, 2*sbh+4*sbh/tp-sbh/tp, less(false), "two norms' outputs and the activation, less the context")
		assert.EqualValues(t, 5*sbh/tp, less(true))
	}
}

// TestFP8Weights: layers' matrices have copies of two bytes an element, unless
// they are in 8 bits themselves. PyTorch's own modules have none.
func TestFP8Weights(t *testing.T) {
	copies := func(change func(*Spec)) (sum int64) {
		s := fp8(2, false, gpu.FP8)
		change(s)
		for _, w := range s.Build(Run{Layers: 3, Ends: true}).Tensors {
			if w.Kept && w.Weights {
				sum += w.Bytes
			}
		}
		return sum
	}
	assert.EqualValues(t, 2*3*12*1024*1024/2, copies(func(*Spec) {}), "12h² a layer")
	assert.Zero(t, copies(func(s *Spec) { s.FP8Weights = true }))
	assert.Zero(t, copies(func(s *Spec) { s.Modules = PlainModules }))
	assert.Zero(t, copies(func(s *Spec) { s.Precision = gpu.BF16 }))
}

// TestFP8Gathers: sequence parallelism's all-gathers carry 8 bits, its
// reduce-scatters 16.
func TestFP8Gathers(t *testing.T) {
	bytes := func(p gpu.Dtype, of Collective) (sum int64) {
		c := fp8(4, true, p).Build(Run{Layers: 2})
		for _, op := range append(c.Forward, c.Backward...) {
			if op.Kind == Communicate && op.Comm.Group == TP && op.Comm.Collective == of {
				sum += op.Comm.Bytes
			}
		}
		return sum
	}
	assert.Equal(t, bytes(gpu.BF16, AllGather), 2*bytes(gpu.FP8, AllGather))
	assert.Equal(t, bytes(gpu.BF16, ReduceScatter), bytes(gpu.FP8, ReduceScatter))
}

// TestFP8LeavesTheHead: FP8 is for the layers' products.
func TestFP8LeavesTheHead(t *testing.T) {
	c := fp8(1, false, gpu.FP8).Build(Run{Layers: 1, Ends: true})
	heads := 0
	for _, op := range append(c.Forward, c.Backward...) {
		if op.Kind != Compute || op.Kernel.Kind != gpu.GEMM {
			continue
		}
		want := gpu.FP8
		if strings.Contains(op.Name, "logits") {
			want = gpu.BF16
			heads++
		}
		assert.Equal(t, want, op.Kernel.In, op.Name)
	}
	assert.Equal(t, 3, heads)
}
