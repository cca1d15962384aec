package scenarios

import "trainsim/sim/job"

// batch is a global batch that a variant has to keep.
type batch struct {
	samples int64           // 0: nothing to keep
	fixed   map[string]bool // the keys that the variant sets itself
}

// keepBatch cuts the global batch anew: into as many micro-batches as it takes
// or, where their number is fixed, into larger or smaller ones.
func (l *loader) keepBatch(cfg *job.Config) {
	b, s, dp := &l.batch, &cfg.Schedule, int64(cfg.Parallel.DP)
	if b.samples == 0 || dp < 1 || l.dec.isBad("schedule") || l.dec.isBad("parallel") {
		return
	}
	const count, size = "schedule.microbatches", "schedule.microbatch_size"
	switch {
	case b.fixed[count] && b.fixed[size]:
		if cfg.Samples() != b.samples {
			l.problem(count, []string{size, "parallel.dp"}, "%d micro-batches of %d samples on %d replicas are not "+
				"the global batch of %d samples that is to be kept",
				s.Microbatches, s.MicrobatchSize, dp, b.samples)
		}
	case b.fixed[count]:
		s.MicrobatchSize = l.share(count, "micro-batches", b.samples, int64(s.Microbatches), dp)
	default:
		s.Microbatches = l.share(size, "samples a micro-batch", b.samples, int64(s.MicrobatchSize), dp)
	}
}

// share divides the batch by n on each of the replicas, or reports that it
// cannot be.
func (l *loader) share(key, what string, samples, n, dp int64) int {
	if each, ok := product(int(n), int(dp)); ok && each > 0 && samples%int64(each) == 0 {
		return int(samples / int64(each))
	}
	l.problem(key, []string{"parallel.dp"}, "the global batch of %d samples that is to be kept cannot be cut into "+
		"%d %s on %d replicas", samples, n, what, dp)
	return 1
}
