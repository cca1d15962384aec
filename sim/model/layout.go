package model

import "trainsim/sim/input"

// Layout is how a job cuts its model over ranks, as far as layers care.
type Layout struct {
	TP, CP, EP, ExpertTP int
	// Stage is the ranks of a pipeline stage, tp * cp * dp; 0 where they are not
	// known.
	Stage int
	// ZeRO is the stage of the sharding over replicas.
	ZeRO             int
	SequenceParallel bool
	// CPComm is how context-parallel ranks exchange: "p2p", "a2a" or "" for what
	// suits the model.
	CPComm string
	// Framework is the name of the software, DenseOnly that it trains no experts
	// here.
	Framework string
	DenseOnly bool
	LoRA      LoRA
}

// Misfits returns every reason for which the model cannot be cut so: a scenario's
// key and what to write instead, with the keys that it follows from.
func (c *Config) Misfits(l *Layout) []*input.Problem { return families[c.Family].Misfits(c, l) }

// divides adds a width that the tensor-parallel ranks cannot share.
func (p *problems) divides(tp int, key string, width int64, what string) {
	if width > 0 && width%int64(tp) != 0 {
		p.add("parallel.tp", "%d does not divide the model's %s, %d; write one of %s",
			tp, what, width, input.Divisors(int(width))).With(key)
	}
}

// Misfits of a transformer are heads, widths, tokens and experts that the ranks
// cannot share evenly.
func (transformer) Misfits(c *Config, l *Layout) []*input.Problem {
	var out problems
	c.expertMisfit(&out, l)
	c.contextMisfit(&out, l)
	out.divides(l.TP, "model.heads", c.Heads, "heads")
	tp, cp := int64(l.TP), int64(l.CP)
	if kv := c.KV(); kv > 0 && kv != c.Heads && kv%tp != 0 && tp%kv != 0 {
		out.add("parallel.tp", "%d ranks cannot share %d key/value heads; write a divisor or a multiple of %d",
			tp, kv, kv).With("model.kv_heads")
	}
	if c.Experts == 0 || c.DenseLayers > 0 {
		out.divides(l.TP, "model.ffn", c.FFN, "ffn width")
	}
	out.divides(l.TP, "model.shared_expert_ffn", c.SharedExpertFFN, "shared experts' width")
	switch {
	case c.SeqLen%cp != 0:
		out.add("parallel.cp", "%d does not divide seq_len %d; write one of %s",
			cp, c.SeqLen, input.Divisors(int(c.SeqLen))).With("model.seq_len")
	case l.SequenceParallel && (c.SeqLen/cp)%tp != 0:
		out.add("parallel.sequence_parallel", "tp %d does not divide the %d tokens of a rank's sequence; "+
			"write a seq_len that tp * cp divides, or sequence_parallel = false", tp, c.SeqLen/cp).
			With("parallel.tp", "model.seq_len")
	}
	return out
}

// contextMisfit adds what attention over context-parallel ranks cannot be.
// Megatron-Core's own attention refuses to be cut, Transformer Engine takes its
// unfused kernels out of the choice, and PyTorch's ring is of fused ones, too.
func (c *Config) contextMisfit(p *problems, l *Layout) {
	trades := l.CPComm == "a2a"
	switch {
	case c.latent() && trades:
		p.add("parallel.cp_comm",
			"latent attention passes keys and values around a ring; write \"p2p\"").With("model.kv_lora_rank")
	case l.CP > 1 && !c.FusedAttention():
		p.add("model.attention", "context parallelism needs a fused attention kernel, as in Megatron-Core and "+
			"PyTorch; write attention = \"flash\", or cp = 1").With("parallel.cp")
	case l.CP > 1 && trades && c.Heads%int64(l.TP*l.CP) != 0:
		p.add("parallel.cp_comm", "an all-to-all trades the sequence for whole heads, but tp %d * cp %d does not "+
			"divide the model's %d heads; write \"p2p\"", l.TP, l.CP, c.Heads).
			With("parallel.tp", "parallel.cp", "model.heads")
	}
}

// expertMisfit adds what is wrong with how experts are spread over the ranks, or
// trained.
func (c *Config) expertMisfit(p *problems, l *Layout) {
	with := []string{"parallel.ep", "parallel.etp", "parallel.tp", "parallel.zero", "model.experts"}
	add := func(key, format string, args ...any) { p.add(key, format, args...).With(with...) }
	ep, etp := max(l.EP, 1), l.ExpertTP
	if c.Experts == 0 {
		if ep > 1 {
			add("parallel.ep", "%d needs a model with experts; write 1", ep)
		}
		return
	}
	switch {
	case etp != 1 && etp != l.TP:
		add("parallel.etp", "%d is neither 1 nor tp = %d; write one of them", etp, l.TP)
	case c.Experts%int64(ep) != 0:
		add("parallel.ep", "%d does not divide the %d experts; write one of %s",
			ep, c.Experts, input.Divisors(int(c.Experts)))
	case l.Stage%(etp*ep) != 0:
		add("parallel.ep", "ep %d * etp %d does not divide the %d ranks of a stage (tp * cp * dp); "+
			"write an ep among %s", ep, etp, l.Stage, input.Divisors(l.Stage/etp))
	case c.expertFFN()%int64(etp) != 0:
		add("parallel.etp", "%d does not divide the experts' width, %d; write 1", etp, c.expertFFN())
	case l.TP > 1 && !l.SequenceParallel:
		add("parallel.sequence_parallel",
			"experts beside tensor parallelism need sequence parallelism, as in Megatron-Core; write true")
	case l.ZeRO >= 2 && (ep > 1 || etp != l.TP):
		add("parallel.zero", "%d is modelled for experts that are cut as the rest of the model; "+
			"write ep = 1 and etp = tp, or zero = 1", l.ZeRO)
	case l.DenseOnly:
		add("framework.preset", "experts are modelled for Megatron-Core and plain PyTorch, not for %q; "+
			"write \"megatron\" or \"eager\"", l.Framework)
	case l.LoRA.On() && l.LoRA.feedForward(c):
		add("lora.targets", "adapters on experts are not modelled; write \"attention\" or \"qkv\"")
	}
}
