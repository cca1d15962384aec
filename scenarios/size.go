package scenarios

import (
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
	sequences := float64(s.MicrobatchSize)
	tokens := sequences * float64(m.SeqLen) / float64(p.CP)
	widest := tokens * float64(max(3*m.Hidden, 2*m.FFN, m.Vocab)) * 4
	if m.Attention == "unfused" {
		widest = max(widest, sequences*float64(m.Heads)*float64(m.SeqLen)*float64(m.SeqLen)*4)
	}
	if widest > maxTensor*float64(p.TP) {
		l.problem("schedule.microbatch_size", []string{"model.seq_len"},
			"%d sequences of %d tokens make tensors of %.3g bytes; write a smaller micro-batch or sequence", s.MicrobatchSize, m.SeqLen, widest/float64(p.TP))
		return
	}
	peak := cfg.GPU.Peak(gpu.BF16)
	flops := 6 * float64(m.Parameters()) * tokens * float64(s.Microbatches) / float64(p.TP*p.PP)
	flops += 12 * float64(m.Layers) * float64(m.Heads*m.Head()) * float64(m.SeqLen) * tokens * float64(s.Microbatches) / float64(p.TP*p.PP)
	if peak > 0 && flops/peak > maxStep {
		l.problem("schedule.microbatches", []string{"schedule.microbatch_size", "model.seq_len"},
			"a step of %.3g FLOPs a GPU takes more than ten days; write fewer micro-batches or a smaller model", flops)
	}
}
