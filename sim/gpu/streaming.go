package gpu

import "trainsim/sim"

// StreamingCost holds the parameters of kernels bound by memory traffic: the
// share of the memory bandwidth that each class reaches on large tensors, and
// the time that a kernel takes whatever its size.
type StreamingCost struct {
	// Latency is the time of a kernel on an almost empty tensor.
	Latency sim.Time `toml:"latency"`

	Elementwise  float64 `toml:"elementwise"`
	Norm         float64 `toml:"norm"`
	Softmax      float64 `toml:"softmax"`
	CrossEntropy float64 `toml:"cross_entropy"`
	Embedding    float64 `toml:"embedding"`
	Copy         float64 `toml:"copy"`
	Optimizer    float64 `toml:"optimizer"`
	Reduction    float64 `toml:"reduction"`
	// Permute is for rows gathered and scattered by an index; 0 stands for
	// permuteOfCopy of Copy.
	Permute float64 `toml:"permute"`
}

// permuteOfCopy is what Transformer Engine's permutation of tokens reaches of a
// copy's bandwidth: 0.50 against 0.88 of the memory's on B200, the only GPU
// measured (SimuMax, b200_bf16_ceperm.json, permute_fwd).
const permuteOfCopy = 0.57

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
	case Permute:
		if s.Permute == 0 {
			return s.Copy * permuteOfCopy
		}
		return s.Permute
	}
	return s.Elementwise
}

func (s *StreamingCost) check(c *checks) {
	c.notNegative("streaming.latency", float64(s.Latency))
	for class := range NumClasses {
		c.share("streaming."+class.String(), s.of(class))
	}
}

// memorySeconds is a latency a launch and the traffic at the class's bandwidth,
// so that small tensors reach a small part of it.
func (d *Device) memorySeconds(k *Kernel, beside sim.Bandwidth) float64 {
	bytes := float64(max(k.ReadBytes, 0)) + float64(max(k.WriteBytes, 0))
	latency := d.Streaming.Latency.Seconds() * float64(max(k.Launches, 1))
	return latency + bytes/d.room(d.Streaming.of(k.Class), beside)
}
