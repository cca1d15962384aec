package schedule

import "fmt"

// LowerAs returns the lists with sends and receives in the order in which a
// training system runs them.
//
// Torch and AnySystem: every send is posted right after the action that makes
// it, every receive in the order of its sender's sends, and waited for when
// needed; a program that was read with sends and receives keeps its own.
// Megatron, for 1f1b: each transfer blocks; in the steady state a send and the
// receive of the opposite direction are one batch. Its interleaved schedules
// overlap transfers: as torch.
// DeepSpeed, for 1f1b: each transfer blocks, sends come a slot of its schedule
// after the action.
// DeepSeek, for dualpipe and dualpipev: the sends since the last action and the
// receives for the next are one batch that blocks.
//
// Any other pair of system and schedule is an error.
func (p *Program) LowerAs(s System) ([][]Step, error) {
	lower := p.lowerMegatron
	switch {
	case s == AnySystem, s == Torch, s == Megatron && p.Kind != "1f1b" && p.Placement == Loop && p.Chunks > 1:
		return p.lower()
	case s == Megatron && p.Kind == "1f1b":
	case s == DeepSpeed && p.Kind == "1f1b":
		lower = p.lowerDeepSpeed
	case s == DeepSeek && (p.Kind == "dualpipe" || p.Kind == "dualpipev"):
		lower = p.lowerDualPipe
	default:
		return nil, fmt.Errorf("schedule: %s does not run %s; its order of sends and receives is known for torch", s,
			p.Kind)
	}
	if err := p.Check(); err != nil {
		return nil, err
	}
	out := make([][]Step, p.Ranks)
	for rank := range out {
		out[rank] = lower(rank)
	}
	return out, nil
}

// steps collects a rank's list with communication, leaving out transfers that
// do not leave the rank.
type steps struct {
	w    *wiring
	rank int
	list []Step
}

func (p *Program) newSteps(rank int) *steps {
	return &steps{w: newWiring(p), rank: rank}
}

// crosses reports whether a transfer leaves or enters the rank.
func (s *steps) crosses(kind StepKind, a Action) bool {
	slot := s.w.slot(s.rank, a)
	peer := s.w.prevRank[slot]
	if kind == SendForward || kind == RecvBackward {
		peer = s.w.nextRank[slot]
	}
	return peer >= 0 && int(peer) != s.rank
}

// add appends a transfer of an action's chunk and micro-batch.
func (s *steps) add(kind StepKind, a Action) {
	if s.crosses(kind, a) {
		s.list = append(s.list, Step{Kind: kind, Action: transferOp(kind).At(int(a.Microbatch), int(a.Chunk))})
	}
}

// batch appends transfers that are waited for together.
func (s *steps) batch(transfers []Step) {
	from := len(s.list)
	for _, t := range transfers {
		s.add(t.Kind, t.Action)
	}
	for i := from; i+1 < len(s.list); i++ {
		s.list[i].Batch = true
	}
}

func (s *steps) compute(actions ...Action) {
	for _, a := range actions {
		s.list = append(s.list, Step{Action: a})
	}
}

func transferOp(kind StepKind) Op {
	if kind == SendForward || kind == RecvForward {
		return Forward
	}
	return Backward
}

// sendOf and recvOf return the transfers after and before an action.
func sendOf(a Action) Step {
	if a.Op == Forward {
		return Step{Kind: SendForward, Action: a}
	}
	return Step{Kind: SendBackward, Action: a}
}

func recvOf(a Action) Step {
	if a.Op == Forward {
		return Step{Kind: RecvForward, Action: a}
	}
	return Step{Kind: RecvBackward, Action: a}
}

// lowerMegatron is Megatron-LM's 1F1B without interleaving. Where its work turns,
// a send and the receive for the next action are one batch; warm-up and cool-down
// send and receive one at a time, also where nothing lies between them.
func (p *Program) lowerMegatron(rank int) []Step {
	s := p.newSteps(rank)
	list := p.Lists[rank]
	steady := p.Microbatches > p.Ranks-1-rank
	batched := false
	for i, a := range list {
		if !batched {
			s.add(recvOf(a).Kind, a)
		}
		s.compute(a)
		if batched = steady && i+1 < len(list) && Turns(a.Op, list[i+1].Op); batched {
			s.batch([]Step{sendOf(a), recvOf(list[i+1])})
		} else {
			s.add(sendOf(a).Kind, a)
		}
	}
	return s.list
}

// Turns reports whether a rank's work changes direction between two operations
// that follow each other, from forward to backward or back. Systems whose
// transfers block put the send of the one and the receive of the other into one
// batch there (Megatron-LM's send_forward_recv_backward).
func Turns(one, two Op) bool { return (one == Forward) != (two == Forward) }

// lowerDeepSpeed is DeepSpeed's TrainSchedule: its slots alternate forwards and
// backwards, and what an action sends it sends in the slot after it. Where that
// slot has a backward, the receive comes first.
func (p *Program) lowerDeepSpeed(rank int) []Step {
	s := p.newSteps(rank)
	slot := func(a Action) int {
		if a.Op == Forward {
			return 2*int(a.Microbatch) + rank
		}
		return 2*int(a.Microbatch) + 2*p.Ranks - 1 - rank
	}
	list := p.Lists[rank]
	for i, a := range list {
		recvFirst := a.Op != Forward && i > 0 && slot(a) == slot(list[i-1])+1
		if recvFirst {
			s.add(RecvBackward, a)
		}
		if i > 0 {
			s.add(sendOf(list[i-1]).Kind, list[i-1])
		}
		if !recvFirst {
			s.add(recvOf(a).Kind, a)
		}
		s.compute(a)
	}
	s.add(sendOf(list[len(list)-1]).Kind, list[len(list)-1])
	return s.list
}

// shortKinds are the tokens of transfers in StepTokens.
var shortKinds = [...]string{SendForward: "SF", RecvForward: "RF", SendBackward: "SB", RecvBackward: "RB"}

// StepTokens returns a list with communication as tokens: actions as Tokens
// writes them, transfers as "[SF0]" (send or receive, forward or backward), and
// those that are waited for together in one pair of brackets, "[SF1,RB0]".
func (p *Program) StepTokens(list []Step) []string {
	var out []string
	var b []byte
	open := false
	for _, s := range list {
		if s.Kind == Compute {
			b = s.Action.appendToken(b, p.Chunks)
			if s.Action.Pair {
				b = append(b, '+')
				continue
			}
		} else {
			if !open {
				b = append(b, '[')
			}
			b = append(b, shortKinds[s.Kind]...)
			b = s.Action.appendNumbers(b, p.Chunks)
			if open = s.Batch; open {
				b = append(b, ',')
				continue
			}
			b = append(b, ']')
		}
		out = append(out, string(b))
		b = b[:0]
	}
	return out
}
