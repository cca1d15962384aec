package scenarios

import "trainsim/sim/step"

// checkExperts checks that the ranks of a pipeline stage can share the experts.
func (l *loader) checkExperts(cfg *step.Config) {
	m, p := &cfg.Model, &cfg.Parallel
	if m.KVLoraRank > 0 && p.CPComm == "a2a" {
		l.problem("parallel.cp_comm", []string{"model.kv_lora_rank"}, "latent attention passes keys and values around a ring; write \"p2p\"")
	}
	if l.dec.isBad("model") || l.dec.isBad("parallel.ep") || l.dec.isBad("parallel.etp") {
		return
	}
	if m.Experts == 0 {
		if p.EP > 1 {
			l.problem("parallel.ep", nil, "%d needs a model with experts; write 1", p.EP)
		}
		return
	}
	etp, stage := max(p.ETP, 1), p.TP*p.CP*p.DP
	switch {
	case etp != 1 && etp != p.TP:
		l.problem("parallel.etp", []string{"parallel.tp"}, "%d is neither 1 nor tp = %d; write one of them", etp, p.TP)
	case m.Experts%int64(p.EP) != 0:
		l.problem("parallel.ep", []string{"model.experts"}, "%d does not divide the %d experts; write one of %s", p.EP, m.Experts, divisors(int(m.Experts)))
	case stage%(etp*p.EP) != 0:
		l.problem("parallel.ep", []string{"parallel.etp", "parallel.dp"}, "ep %d * etp %d does not divide the %d ranks of a stage (tp * cp * dp); write an ep among %s",
			p.EP, etp, stage, divisors(stage/etp))
	case p.TP > 1 && !p.SequenceParallel:
		l.problem("parallel.sequence_parallel", []string{"parallel.tp"}, "experts beside tensor parallelism need sequence parallelism, as in Megatron-Core; write true")
	case p.ZeRO >= 2 && (p.EP > 1 || etp != p.TP):
		l.problem("parallel.ep", []string{"parallel.zero"}, "expert parallelism under ZeRO %d is not modelled; write ep = 1, or zero = 1", p.ZeRO)
	case cfg.Host.Framework == "deepspeed":
		l.problem("host.framework", []string{"model.experts"}, "experts are modelled for Megatron-Core and plain PyTorch; write \"megatron\" or \"eager\"")
	case cfg.LoRA.On() && cfg.LoRA.Targets != "attention" && cfg.LoRA.Targets != "qkv":
		l.problem("lora.targets", []string{"model.experts"}, "adapters on experts are not modelled; write \"attention\" or \"qkv\"")
	}
	if width := m.ExpertFFN; width%int64(etp) != 0 {
		l.problem("parallel.etp", []string{"model.expert_ffn"}, "%d does not divide the experts' width, %d; write 1", etp, width)
	}
}
