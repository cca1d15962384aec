package model

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Context parallelism needs a fused kernel, and an all-to-all whole heads.
func TestContextParallelMisfits(t *testing.T) {
	of := func(attention AttentionKind, l Layout) (keys []string) {
		c := llama(1).Config // 16 heads
		c.Attention = attention
		l.EP, l.ExpertTP, l.Stage = 1, l.TP, l.TP*l.CP
		for _, p := range c.Misfits(&l) {
			keys = append(keys, p.Key)
		}
		return keys
	}
	for _, a := range []AttentionKind{Flash, Flash1, Flash2} {
		assert.Empty(t, of(a, Layout{TP: 4, CP: 8}))
		assert.Empty(t, of(a, Layout{TP: 4, CP: 4, CPComm: "a2a"}))
		assert.Equal(t, []string{"parallel.cp_comm"}, of(a, Layout{TP: 4, CP: 8, CPComm: "a2a"}), "16 heads for 32 ranks")
	}
	assert.Empty(t, of(Unfused, Layout{TP: 4, CP: 1}))
	assert.Equal(t, []string{"model.attention"}, of(Unfused, Layout{TP: 4, CP: 2}))
	latent := mixed(1, 1, 1).Config
	ps := latent.Misfits(&Layout{TP: 1, CP: 2, EP: 1, ExpertTP: 1, Stage: 2, CPComm: "a2a"})
	if assert.Len(t, ps, 1) {
		assert.Equal(t, "parallel.cp_comm", ps[0].Key)
	}
}
