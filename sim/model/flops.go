package model

// FLOPs of a model a token, as the field counts them: matrix products and the
// attention core with the full s x s square, causal or not (Narayanan et al.
// 2021, arXiv 2104.04473, appendix; PaLM, arXiv 2204.02311, appendix B).

// LayerFLOPs returns the forward operations of one layer for one token.
func (c *Config) LayerFLOPs() float64 {
	h, d := float64(c.Hidden), float64(c.Head())
	q, kv := float64(c.Heads)*d, float64(2*c.KV())*d
	up := float64(c.FFN)
	if c.MLP.Gated() {
		up *= 2
	}
	return 2*(h*(q+kv)+q*h+h*up+float64(c.FFN)*h) + c.CoreFLOPs()
}

// CoreFLOPs returns the part of LayerFLOPs that is the attention core.
func (c *Config) CoreFLOPs() float64 {
	return 4 * float64(c.SeqLen) * float64(c.Heads*c.Head())
}

// FLOPs returns the forward operations of the whole model for one token.
func (c *Config) FLOPs() float64 {
	f := float64(c.Layers)*c.LayerFLOPs() + 2*float64(c.Vocab)*float64(c.Hidden)
	if c.HeadTransform {
		f += 2 * float64(c.Hidden) * float64(c.Hidden)
	}
	return f
}

// RecomputedFLOPs returns what recomputation adds a token.
func (s *Spec) RecomputedFLOPs() float64 {
	switch {
	case s.Checkpointing.Every > 0:
		return float64(s.Layers) * s.LayerFLOPs()
	case s.Checkpointing.Selective:
		return float64(s.Layers) * s.CoreFLOPs()
	}
	return 0
}
