package scenarios

import (
	"trainsim/sim/job"
)

// checkExperts checks that the ranks of a pipeline stage can share the experts.
func (l *loader) checkExperts(cfg *job.Config) {
	if l.dec.isBad("model") || l.dec.isBad("parallel.ep") || l.dec.isBad("parallel.etp") {
		return
	}
	if cfg.Model.KVLoraRank > 0 && cfg.Parallel.CPComm == "a2a" {
		l.problem("parallel.cp_comm", []string{"model.kv_lora_rank"}, "latent attention passes keys and values around a ring; write \"p2p\"")
	}
	if key, text := cfg.ExpertProblem(); key != "" {
		l.problem(key, []string{"parallel.ep", "parallel.etp", "parallel.tp", "parallel.zero", "model.experts"}, "%s", text)
	}
}
