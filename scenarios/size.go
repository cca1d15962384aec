package scenarios

import (
	"math/bits"

	"trainsim/sim/gpu"
	"trainsim/sim/job"
)

const (
	maxTensor = 1 << 50    // bytes of one tensor: a thousand times a device's memory
	maxStep   = 10 * 86400 // seconds of a step at the device's peak rate; the clock ends at 106 days
)

// checkSize refuses jobs whose numbers leave the range of the simulation, long
// before anything could overflow.
func (l *loader) checkSize(cfg *job.Config) {
	m, s, p := &cfg.Model, &cfg.Schedule, &cfg.Parallel
	if l.dec.isBad("model") || l.dec.isBad("schedule") || l.dec.isBad("parallel") || l.out.Len() > 0 {
		return
	}
	widest := m.Widest(float64(s.MicrobatchSize), p.TP, p.CP)
	if widest > maxTensor {
		l.problem("schedule.microbatch_size", []string{"model.seq_len"},
			"%d sequences of %d tokens make tensors of %.3g bytes; write a smaller micro-batch or sequence",
			s.MicrobatchSize, m.Tokens(), widest)
		return
	}
	tokens := float64(s.MicrobatchSize) * float64(m.Tokens()) / float64(p.CP) * float64(s.Microbatches)
	flops := m.MostFLOPs() * tokens / float64(p.TP*p.PP)
	peak := cfg.GPU.Peak(gpu.BF16)
	if peak > 0 && flops/peak > maxStep {
		l.problem("schedule.microbatches", []string{"schedule.microbatch_size", "model.seq_len"},
			"a step of %.3g FLOPs a GPU takes more than ten days; write fewer micro-batches or a smaller model", flops)
	}
}

// worldGPUs returns the factors of the number of GPUs: nodes, and GPUs of a node.
func worldGPUs(cfg *job.Config) []int {
	return []int{max(cfg.Cluster.Nodes, 1), cfg.Cluster.NodeGPUs()}
}

// product multiplies counts; ok is false when the result does not fit.
func product(counts ...int) (n int, ok bool) {
	n = 1
	for _, c := range counts {
		if c < 0 {
			return 0, false
		}
		hi, lo := bits.Mul64(uint64(n), uint64(c))
		if hi != 0 || lo > maxCount {
			return 0, false
		}
		n = int(lo)
	}
	return n, true
}
