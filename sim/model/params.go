package model

// Parameters returns the number of trainable parameters of the whole model,
// with the vocabulary as published, not padded.
func (c *Config) Parameters() int64 {
	return c.EmbeddingParameters() + c.Layers*c.LayerParameters() + c.HeadParameters()
}

func (c *Config) normParameters() int64 {
	if c.Norm == RMSNorm {
		return c.Hidden
	}
	return 2 * c.Hidden
}

// LayerParameters returns the parameters of one transformer layer.
func (c *Config) LayerParameters() int64 {
	h, d := c.Hidden, c.Head()
	q, kv := c.Heads*d, 2*c.KV()*d
	n := h*(q+kv) + q*h
	if c.QKVBias {
		n += q + kv
	}
	up := c.FFN
	if c.MLP.Gated() {
		up *= 2
	}
	n += h*up + c.FFN*h
	if c.LinearBias {
		n += h + up + h
	}
	if c.QKNorm {
		n += 2 * d
	}
	return n + c.layerNorms()*c.normParameters()
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

// EmbeddingParameters returns the parameters of the token, position and type
// tables and the norm behind them.
func (c *Config) EmbeddingParameters() int64 {
	n := (c.Vocab + c.TokenTypes) * c.Hidden
	if c.Position == Learned {
		n += max(c.MaxPositions, c.SeqLen) * c.Hidden
	}
	if c.EmbeddingNorm {
		n += c.normParameters()
	}
	return n
}

// HeadParameters returns the parameters behind the last layer that are not
// shared with the embedding.
func (c *Config) HeadParameters() int64 {
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
