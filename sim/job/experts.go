package job

import (
	"fmt"
	"strings"
)

// ExpertProblem returns what is wrong with how experts are spread over the ranks
// or trained: the key at fault and what to write instead; nothing where all is
// well or the model has none.
func (c *Config) ExpertProblem() (key, text string) {
	m, p := &c.Model, &c.Parallel
	if m.Experts == 0 {
		if p.EP > 1 {
			return "parallel.ep", fmt.Sprintf("%d needs a model with experts; write 1", p.EP)
		}
		return "", ""
	}
	ep, etp, stage := max(p.EP, 1), p.ExpertTP(), p.RanksPerStage()
	switch {
	case etp != 1 && etp != p.TP:
		return "parallel.etp", fmt.Sprintf("%d is neither 1 nor tp = %d; write one of them", etp, p.TP)
	case m.Experts%int64(ep) != 0:
		return "parallel.ep", fmt.Sprintf("%d does not divide the %d experts; write one of %s", ep, m.Experts, Divisors(int(m.Experts)))
	case stage%(etp*ep) != 0:
		return "parallel.ep", fmt.Sprintf("ep %d * etp %d does not divide the %d ranks of a stage (tp * cp * dp); write an ep among %s", ep, etp, stage, Divisors(stage/etp))
	case m.ExpertFFN%int64(etp) != 0:
		return "parallel.etp", fmt.Sprintf("%d does not divide the experts' width, %d; write 1", etp, m.ExpertFFN)
	case p.TP > 1 && !p.SequenceParallel:
		return "parallel.sequence_parallel", "experts beside tensor parallelism need sequence parallelism, as in Megatron-Core; write true"
	case p.ZeRO >= 2 && (ep > 1 || etp != p.TP):
		return "parallel.zero", fmt.Sprintf("%d is modelled for experts that are cut as the rest of the model; write ep = 1 and etp = tp, or zero = 1", p.ZeRO)
	case c.Host.Framework == "deepspeed":
		return "host.framework", "experts are modelled for Megatron-Core and plain PyTorch; write \"megatron\" or \"eager\""
	case c.LoRA.On() && c.LoRA.FeedForward(&c.Model):
		return "lora.targets", "adapters on experts are not modelled; write \"attention\" or \"qkv\""
	}
	return "", ""
}

// Divisors lists the divisors of a count, up to 4096 of it, small ones first.
func Divisors(n int) string {
	var out []string
	for d := 1; d <= min(n, 4096) && len(out) < 12; d++ {
		if n%d == 0 {
			out = append(out, fmt.Sprint(d))
		}
	}
	return strings.Join(out, ", ")
}
