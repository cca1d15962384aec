package gpu

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestFirstGeneration: the first FlashAttention takes half the rate where no
// preset says otherwise.
func TestFirstGeneration(t *testing.T) {
	d := preset(t, "a100-sxm4-80gb")
	k := Kernel{Kind: Attention, Batch: 1, Heads: 16, KVHeads: 16, SeqQ: 4096, SeqK: 4096, HeadDim: 128, Causal: true, In: BF16, Out: BF16}
	ratio := func() float64 {
		old := k
		old.FirstGeneration = true
		return d.Time(&old).Seconds() / d.Time(&k).Seconds()
	}
	d.Attention.FirstGeneration = 0
	assert.InDelta(t, 2, ratio(), 0.05)
	d.Attention.FirstGeneration = 0.8
	assert.InDelta(t, 1.25, ratio(), 0.05)
	d.Attention.FirstGeneration = 1.2
	assert.ErrorContains(t, d.Validate(), "attention.first_generation")
}

// TestUnalignedBatch: batched products of rows that are no multiple of 16 bytes
// miss the tensor cores where the preset says so; single ones do not.
func TestUnalignedBatch(t *testing.T) {
	d := preset(t, "a100-sxm4-80gb")
	rate := func(batch, k int64) float64 {
		g := Kernel{Kind: GEMM, Batch: batch, M: 2048, N: 2048, K: k, In: FP16, Out: FP16}
		return g.FLOPs() / d.Time(&g).Seconds() / 1e12
	}
	assert.InDelta(t, 10.5, rate(64, 108), 1.5)
	assert.Greater(t, rate(64, 112), 60.0)
	assert.Greater(t, rate(1, 2044), 60.0)
	d.GEMM.UnalignedBatch = 0
	assert.Greater(t, rate(64, 108), 30.0)
}
