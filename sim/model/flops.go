package model

import "trainsim/sim/gpu"

// FLOPs of a model a token, as the field counts them: matrix products and the
// attention core with the full s x s square, causal or not (Narayanan et al.
// 2021, arXiv 2104.04473, appendix; PaLM, arXiv 2204.02311, appendix B).

// LayerFLOPs returns the forward operations of one layer for one token; with
// experts, of those that the token is sent to.
func (c *Config) LayerFLOPs() float64 {
	if c.Experts == 0 {
		return c.DenseLayerFLOPs()
	}
	routed := c.routedFLOPs() * c.kept()
	return c.blockFLOPs(c.SharedExpertFFN) + routed + 2*float64(c.Hidden*c.Experts)
}

// routedFLOPs are those of the experts that a token is sent to.
func (c *Config) routedFLOPs() float64 {
	return 2 * float64(c.matrices()*c.Hidden*c.ExpertsPerToken*c.expertFFN())
}

// kept is the share of the tokens that balanced experts of some capacity take.
func (c *Config) kept() float64 {
	if c.ExpertCapacity == 0 {
		return 1
	}
	return min(c.ExpertCapacity, 1)
}

// PaddingFLOPs returns the forward operations on rows that only fill experts up
// to their capacity, for one token.
func (c *Config) PaddingFLOPs() float64 {
	if c.ExpertCapacity <= 1 {
		return 0
	}
	return float64(c.Layers-c.DenseLayers) * c.routedFLOPs() * (c.ExpertCapacity - 1)
}

// DenseLayerFLOPs is LayerFLOPs of a layer without experts.
func (c *Config) DenseLayerFLOPs() float64 { return c.blockFLOPs(c.FFN) }

// blockFLOPs is a layer with a feed-forward block of some width.
func (c *Config) blockFLOPs(ffn int64) float64 {
	return 2*(c.projections()+float64(c.matrices())*float64(c.Hidden)*float64(ffn)) + c.CoreFLOPs()
}

// projections is the size of the attention's matrices.
func (c *Config) projections() float64 {
	h, d := float64(c.Hidden), float64(c.Head())
	if !c.latent() {
		q, kv := float64(c.Heads)*d, float64(2*c.KV())*d
		return h*(q+kv) + q*h
	}
	n := c.latentAttentionParameters() - c.KVLoraRank*c.normWidth()
	if c.QLoraRank > 0 {
		n -= c.QLoraRank * c.normWidth()
	}
	return float64(n)
}

// CoreFLOPs returns the part of LayerFLOPs that is the attention core.
func (c *Config) CoreFLOPs() float64 {
	return 4 * float64(c.SeqLen) * float64(c.Heads*c.coreHead())
}

// LayersFLOPs returns the forward operations of all layers for one token.
func (c *Config) LayersFLOPs() float64 {
	mixed := c.Layers - c.DenseLayers // all where there are no experts
	return float64(float64(c.DenseLayers)*c.DenseLayerFLOPs()) + float64(float64(mixed)*c.LayerFLOPs())
}

// FLOPs returns the forward operations of the whole model for one token.
func (c *Config) FLOPs() float64 {
	f := c.LayersFLOPs() + 2*float64(c.Vocab)*float64(c.Hidden)
	if c.HeadTransform {
		f += 2 * float64(c.Hidden) * float64(c.Hidden)
	}
	return f
}

// RecomputedFLOPs returns what a token's forward and backward do beyond the
// model's operations: recomputation, and rows that fill experts up.
func (s *Spec) RecomputedFLOPs() float64 { return s.recomputed() + 3*s.PaddingFLOPs() }

func (s *Spec) recomputed() float64 {
	switch {
	case s.Checkpointing.Every > 0:
		return s.LayersFLOPs() + s.PaddingFLOPs()
	case s.Checkpointing.Selective:
		return float64(s.Layers) * s.CoreFLOPs()
	case s.Checkpointing.Alternate:
		return s.alternateFLOPs()
	}
	return 0
}

// alternateFLOPs counts the products that one rank recomputes in a layer, for
// all layers and ranks that share a token.
func (s *Spec) alternateFLOPs() float64 {
	var sum float64
	for _, op := range s.Build(0, 1, false, false).Backward {
		if op.Phase == Recompute && op.Kernel.Kind == gpu.GEMM && op.Kind == Compute {
			sum += op.Kernel.FLOPs()
		}
	}
	return sum * float64(s.Layers*s.TP*s.CP) / float64(s.Microbatch*s.SeqLen)
}
