package model

import "trainsim/sim/gpu"

// Parameters returns the number of trainable parameters of the whole model,
// with the vocabulary as published, not padded.
func (c *Config) Parameters() int64 {
	s := c.stack()
	return c.ParametersOf(s.all())
}

// ParametersOf returns those of a run of layers.
func (c *Config) ParametersOf(r Run) int64 {
	s := c.stack()
	var n int64
	for _, b := range s.units(r) {
		n += b.Count * b.Layer.Parameters(c)
	}
	return n
}

// Parameters returns those of attention, norms and feed-forward block or experts.
func (l block) Parameters(c *Config) int64 {
	if l.experts {
		return c.attentionParameters() + c.layerNorms()*c.normParameters() + c.mixtureParameters()
	}
	n := c.attentionParameters() + c.matrices()*c.Hidden*c.FFN
	if c.LinearBias {
		n += c.Hidden + (c.matrices()-1)*c.FFN
	}
	return n + c.layerNorms()*c.normParameters()
}

func (c *Config) normParameters() int64 { return c.Hidden * c.normWidth() }

// normWidth is how many parameters a norm has for each element.
func (c *Config) normWidth() int64 {
	if c.Norm == RMSNorm {
		return 1
	}
	return 2
}

// mixtureParameters returns the parameters of a layer's experts and their router.
func (c *Config) mixtureParameters() int64 {
	n := c.Experts*c.Hidden + c.Experts*c.expertParameters() + c.matrices()*c.Hidden*c.SharedExpertFFN
	if c.SharedExpertGate {
		n += c.Hidden
	}
	return n
}

// expertParameters returns the parameters of one expert.
func (c *Config) expertParameters() int64 { return c.matrices() * c.Hidden * c.expertFFN() }

// matrices is how many matrices a feed-forward block has.
func (c *Config) matrices() int64 {
	if c.MLP.gated() {
		return 3
	}
	return 2
}

func (c *Config) attentionParameters() int64 {
	if c.latent() {
		return c.latentAttentionParameters()
	}
	h, d := c.Hidden, c.headWidth()
	q, kv := c.Heads*d, 2*c.KV()*d
	n := h*(q+kv) + q*h
	if c.QKVBias {
		n += q + kv
	}
	if c.LinearBias {
		n += h
	}
	if c.QKNorm {
		n += 2 * d
	}
	return n
}

func (c *Config) layerNorms() int64 {
	switch {
	case c.ParallelBlock && c.SharedNorm:
		return 1
	case c.PostNorms:
		return 4
	}
	return 2
}

// Parameters returns those of the token, position and type tables and the norm
// behind them.
func (embedding) Parameters(c *Config) int64 {
	n := (c.Vocab + c.TokenTypes) * c.Hidden
	if c.Position == Learned {
		n += max(c.MaxPositions, c.SeqLen) * c.Hidden
	}
	if c.EmbeddingNorm {
		n += c.normParameters()
	}
	return n
}

// Parameters returns those behind the last layer that are not shared with the
// embedding.
func (head) Parameters(c *Config) int64 {
	var n int64
	if c.FinalNorm {
		n += c.normParameters()
	}
	if c.HeadTransform {
		n += c.Hidden*c.Hidden + c.Hidden + c.normParameters()
	}
	if c.HeadBias {
		n += c.Vocab
	}
	if !c.TieEmbeddings {
		n += c.Vocab * c.Hidden
	}
	return n
}

// FLOPs of a model a token, as the field counts them: matrix products and the
// attention core with the full s x s square, causal or not (Narayanan et al.
// 2021, arXiv 2104.04473, appendix; PaLM, arXiv 2204.02311, appendix B).

// FLOPs returns the forward operations of the whole model for one token.
func (c *Config) FLOPs() float64 {
	s := c.stack()
	return c.sum(s.units(s.all()), func(w Work) float64 { return w.FLOPs })
}

// LayersFLOPs returns those of the layers, without the ends.
func (c *Config) LayersFLOPs() float64 {
	return c.sum(c.stack().Blocks, func(w Work) float64 { return w.FLOPs })
}

// sum adds up some work of layers.
func (c *Config) sum(blocks []Block, of func(Work) float64) float64 {
	var all float64
	for _, b := range blocks {
		all += float64(float64(b.Count) * of(b.Layer.Work(c)))
	}
	return all
}

// Work of a layer with experts is that of the experts which a token is sent to.
func (l block) Work(c *Config) Work {
	core := c.coreFLOPs()
	if !l.experts {
		return Work{FLOPs: c.blockFLOPs(c.FFN), Core: core}
	}
	routed := 2 * float64(c.matrices()*c.Hidden*c.ExpertsPerToken*c.expertFFN())
	return Work{
		FLOPs: c.blockFLOPs(c.SharedExpertFFN) + float64(routed*c.kept()) + 2*float64(c.Hidden*c.Experts),
		Core:  core, Routed: routed,
	}
}

// Work of a look-up is none.
func (embedding) Work(*Config) Work { return Work{} }

// Work is the products of the projection to the vocabulary.
func (head) Work(c *Config) Work {
	f := 2 * float64(c.Vocab) * float64(c.Hidden)
	if c.HeadTransform {
		f += 2 * float64(c.Hidden) * float64(c.Hidden)
	}
	return Work{FLOPs: f}
}

// kept is the share of the tokens that balanced experts of some capacity take.
func (c *Config) kept() float64 {
	if c.ExpertCapacity == 0 {
		return 1
	}
	return min(c.ExpertCapacity, 1)
}

// paddingFLOPs returns the forward operations on rows that only fill experts up
// to their capacity, for one token.
func (c *Config) paddingFLOPs() float64 {
	if c.ExpertCapacity <= 1 {
		return 0
	}
	return c.sum(c.stack().Blocks, func(w Work) float64 { return w.Routed }) * (c.ExpertCapacity - 1)
}

// blockFLOPs is a layer with a feed-forward block of some width.
func (c *Config) blockFLOPs(ffn int64) float64 {
	return 2*(c.projections()+float64(c.matrices())*float64(c.Hidden)*float64(ffn)) + c.coreFLOPs()
}

// projections is the size of the attention's matrices.
func (c *Config) projections() float64 {
	h, d := float64(c.Hidden), float64(c.headWidth())
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

// coreFLOPs is the attention core.
func (c *Config) coreFLOPs() float64 {
	return 4 * float64(c.SeqLen) * float64(c.Heads*c.coreHead())
}

// RecomputedFLOPs returns what a token's forward and backward do beyond the
// model's operations: recomputation, and rows that fill experts up.
func (s *Spec) RecomputedFLOPs() float64 { return s.recomputed() + 3*s.paddingFLOPs() }

func (s *Spec) recomputed() float64 {
	switch {
	case s.Checkpointing.Every > 0:
		return s.LayersFLOPs() + s.paddingFLOPs()
	case s.Checkpointing.Selective:
		return s.sum(s.stack().Blocks, func(w Work) float64 { return w.Core })
	case s.Checkpointing.Alternate:
		return s.alternateFLOPs()
	}
	return 0
}

// alternateFLOPs counts the products that one rank recomputes in a layer, for
// all layers and ranks that share a token.
func (s *Spec) alternateFLOPs() float64 {
	var sum float64
	for _, op := range s.Build(Run{Layers: 1}).Backward {
		if op.Phase == Recompute && op.Kernel.Kind == gpu.GEMM && op.Kind == Compute {
			sum += op.Kernel.FLOPs()
		}
	}
	return sum * float64(int64(s.Depth())*s.TP*s.CP) / float64(s.Microbatch*s.SeqLen)
}

// MostFLOPs returns the operations of forward and backward for one token if it
// met every parameter, idle experts and look-ups included: an upper bound.
func (c *Config) MostFLOPs() float64 {
	return 6*float64(c.Parameters()) + 3*c.sum(c.stack().Blocks, func(w Work) float64 { return w.Core })
}
