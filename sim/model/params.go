package model

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
	if c.MLP.Gated() {
		return 3
	}
	return 2
}

func (c *Config) attentionParameters() int64 {
	if c.latent() {
		return c.latentAttentionParameters()
	}
	h, d := c.Hidden, c.Head()
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
	if c.Pooler {
		n += c.Hidden*c.Hidden + c.Hidden
	}
	if !c.TieEmbeddings {
		n += c.Vocab * c.Hidden
	}
	return n
}
