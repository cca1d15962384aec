package gpu

// StreamingCost holds the parameters of kernels bound by memory traffic: the
// share of the memory bandwidth that each class reaches on large tensors.
type StreamingCost struct {
	Elementwise  float64 `toml:"elementwise"`
	Norm         float64 `toml:"norm"`
	Softmax      float64 `toml:"softmax"`
	CrossEntropy float64 `toml:"cross_entropy"`
	Embedding    float64 `toml:"embedding"`
	Copy         float64 `toml:"copy"`
	Optimizer    float64 `toml:"optimizer"`
	Reduction    float64 `toml:"reduction"`
}

// of returns the share of a class.
func (s *StreamingCost) of(c Class) float64 {
	switch c {
	case Norm:
		return s.Norm
	case Softmax:
		return s.Softmax
	case CrossEntropy:
		return s.CrossEntropy
	case Embedding:
		return s.Embedding
	case Copy:
		return s.Copy
	case Optimizer:
		return s.Optimizer
	case Reduction:
		return s.Reduction
	}
	return s.Elementwise
}

func (s *StreamingCost) check(c *checks) {
	c.share("streaming.elementwise", s.Elementwise)
	c.share("streaming.norm", s.Norm)
	c.share("streaming.softmax", s.Softmax)
	c.share("streaming.cross_entropy", s.CrossEntropy)
	c.share("streaming.embedding", s.Embedding)
	c.share("streaming.copy", s.Copy)
	c.share("streaming.optimizer", s.Optimizer)
	c.share("streaming.reduction", s.Reduction)
}

func (d *Device) memorySeconds(k *Kernel) float64 {
	bytes := float64(max(k.ReadBytes, 0)) + float64(max(k.WriteBytes, 0))
	return bytes / (float64(d.MemoryBandwidth) * d.Streaming.of(k.Class))
}
