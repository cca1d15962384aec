package model

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/sim/gpu"
)

// Alternate checkpointing keeps a layer's input, the results of every second
// product and the attention's output with its row statistics.
func TestSavedByAlternateCheckpointing(t *testing.T) {
	s := llama(1)
	s.Checkpointing.Alternate = true
	h, kv, f, tokens := int64(1024), int64(512), int64(4096), int64(2048)
	want := tokens*2*(h+(h+2*kv)+h+2*f) + tokens*16*4
	assert.Equal(t, want, saved(s))
}

// It recomputes the other products, and no attention.
func TestRecomputedByAlternateCheckpointing(t *testing.T) {
	for _, tp := range []int64{1, 2} {
		s := llama(1)
		s.TP, s.SequenceParallel, s.Checkpointing.Alternate = tp, tp > 1, true
		var products []string
		for _, op := range s.Build(Run{Layers: 1}).Backward {
			if op.Phase != Recompute || op.Kind != Compute {
				continue
			}
			assert.NotEqual(t, gpu.Attention, op.Kernel.Kind, op.Name)
			if op.Kernel.Kind == gpu.GEMM {
				products = append(products, op.Name)
			}
		}
		assert.Equal(t, []string{"layer0.attn.proj", "layer0.mlp.fc2"}, products)
		assert.InDelta(t, float64(2*2*(1024*1024+4096*1024)), s.RecomputedFLOPs(), 1)
	}
}

// Parameters and their gradients do not depend on what is recomputed.
func TestAlternateCheckpointingKeepsParameters(t *testing.T) {
	plain, alternate := llama(1), llama(1)
	alternate.Checkpointing.Alternate = true
	a, b := plain.Build(Run{Layers: 2, Embeds: true, Ends: true}), alternate.Build(Run{Layers: 2, Embeds: true, Ends: true})
	assert.Equal(t, a.Weights, b.Weights)
	grads := func(c *Chunk) (n int64) {
		for _, op := range c.Backward {
			if op.Kind == GradsReady {
				n += op.Elements[Replicated]
			}
		}
		return n
	}
	assert.Equal(t, grads(a), grads(b))
}
