package model

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/sim/gpu"
)

// traffic sums the bytes of a chunk's collectives by group and pattern.
func traffic(s *Spec) map[string]int64 {
	out := make(map[string]int64)
	c := s.Build(Run{Layers: 2, Embeds: true, Ends: true})
	for _, op := range append(c.Forward, c.Backward...) {
		if op.Kind == Communicate {
			out[op.Comm.Group.String()+" "+op.Comm.Collective.String()] += op.Comm.Bytes
		}
	}
	return out
}

// Products that collectives overlap in pieces are cut into as many.
func TestOverlappedProductsAreCut(t *testing.T) {
	pieces := func(overlap, serial bool) map[string]int64 {
		s := llama(1)
		s.TP, s.SequenceParallel, s.OverlapTP, s.SerialTP = 8, true, overlap, serial
		out := make(map[string]int64)
		c := s.Build(Run{Layers: 1})
		for _, op := range append(c.Forward, c.Backward...) {
			if op.Pieces > 0 {
				out[op.Name] = op.Pieces
			}
		}
		return out
	}
	assert.Equal(t, map[string]int64{
		"layer0.attn.qkv": 8, "layer0.mlp.fc1": 8, "layer0.attn.proj": 4, "layer0.mlp.fc2": 4,
		"layer0.attn.proj.dgrad": 8, "layer0.mlp.fc2.dgrad": 8,
	}, pieces(true, false))
	assert.Empty(t, pieces(true, true))
	assert.Empty(t, pieces(false, false))
}

// TestOverlapMovesTheSameBytes: whether tensor-parallel collectives run beside
// products, and whether anything may overlap at all, decides when bytes move, not
// how many.
func TestOverlapMovesTheSameBytes(t *testing.T) {
	for _, sequence := range []bool{false, true} {
		for _, p := range []gpu.Dtype{gpu.BF16, gpu.FP8} {
			for _, m := range []Modules{PlainModules, MegatronModules, EngineModules} {
				for _, k := range []Checkpointing{{}, {Selective: true}, {Alternate: true}, {Every: 1}} {
					build := func(overlap, serial bool) map[string]int64 {
						s := llama(2)
						s.TP, s.SequenceParallel, s.Precision, s.Modules, s.Checkpointing = 4, sequence, p, m, k
						s.OverlapTP, s.SerialTP = overlap, serial
						return traffic(s)
					}
					want := build(false, false)
					assert.NotEmpty(t, want)
					for _, overlap := range []bool{false, true} {
						assert.Equal(t, want, build(overlap, true), fmt.Sprint(sequence, p, m, k, overlap))
					}
					assert.Equal(t, want, build(true, false), fmt.Sprint(sequence, p, m, k))
				}
			}
		}
	}
}
