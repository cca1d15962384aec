package schedule

import (
	"fmt"
	"strconv"
)

// StepKind says whether a Step computes or communicates.
type StepKind uint8

// The kinds of steps. A receive names the stage that receives, a send the
// stage that sends; the other end is the stage before or after.
const (
	Compute      StepKind = iota
	SendForward           // activation to the next stage
	RecvForward           // activation from the stage before
	SendBackward          // gradient to the stage before
	RecvBackward          // gradient from the next stage
)

var stepTokens = [...]string{"", "SEND_F", "RECV_F", "SEND_B", "RECV_B"}

// String returns torch's name of a communication, or "COMPUTE".
func (k StepKind) String() string {
	switch {
	case k == Compute:
		return "COMPUTE"
	case int(k) < len(stepTokens):
		return stepTokens[k]
	}
	return "StepKind(" + strconv.Itoa(int(k)) + ")"
}

// Step is one entry of a rank's list with communication: an action, or a send
// or receive of the chunk and micro-batch that Action names.
type Step struct {
	Kind   StepKind
	Batch  bool // this transfer and the next step are started and waited for together
	Action Action
}

// lower returns the lists with their sends and receives in the order in which
// torch.distributed.pipelining puts them, or in the order of the file that the
// program was read from. Every send is posted right after the action that
// produces it and every receive in the order of its sender's sends, so the
// transfers of two ranks always match. Stages on one rank hand over without
// messages. The program must pass Check.
func (p *Program) lower() ([][]Step, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if p.steps != nil {
		return p.steps, nil
	}
	l := &lowering{p: p, w: newWiring(p), out: make([][]Step, p.Ranks), position: make([]int, p.Ranks)}
	l.posted = make([]uint8, l.w.cells)
	l.idle = p.idleSlots()
	for r, list := range p.Lists {
		l.out[r] = make([]Step, 0, 3*len(list))
	}
	for l.round() {
	}
	return l.out, nil
}

// lowering walks all ranks in turn and gives each its next action once that
// action's input has been posted on the rank.
type lowering struct {
	p        *Program
	w        *wiring
	out      [][]Step
	position []int
	posted   []uint8 // marks of the inputs that stand in the consuming rank's list, by consuming cell
	idle     [][]int // positions before which a rank sits out a round, ascending
}

// round gives every rank that is ready one action (or one pair) and reports
// whether any was.
func (l *lowering) round() bool {
	progress := false
	for r, list := range l.p.Lists {
		i := l.position[r]
		if i == len(list) {
			continue
		}
		if slots := l.idle[r]; len(slots) > 0 && slots[0] == i {
			l.idle[r] = slots[1:]
			progress = true
			continue
		}
		n := unit(list, i)
		if !l.ready(r, list[i:i+n]) {
			continue
		}
		l.emit(r, list[i:i+n])
		l.position[r] += n
		progress = true
	}
	return progress
}

func (l *lowering) ready(rank int, actions []Action) bool {
	for _, a := range actions {
		slot := l.w.slot(rank, a)
		_, _, waits := l.w.input(slot, a)
		if waits && l.posted[l.w.base[slot]+int(a.Microbatch)]&inputMark(a.Op) == 0 {
			return false
		}
	}
	return true
}

// emit appends the actions, then their sends, and each matching receive to the
// peer's list as it stands.
func (l *lowering) emit(rank int, actions []Action) {
	for _, a := range actions {
		l.out[rank] = append(l.out[rank], Step{Action: a})
	}
	for _, a := range actions {
		slot := l.w.slot(rank, a)
		peer := l.w.output(slot, a)
		if peer < 0 {
			continue
		}
		to, base := l.receiver(rank, a, slot)
		l.posted[base+int(a.Microbatch)] |= inputMark(a.Op)
		if int(peer) == rank {
			continue
		}
		send, recv := SendForward, RecvForward
		if a.Op != Forward {
			send, recv = SendBackward, RecvBackward
		}
		l.out[rank] = append(l.out[rank], Step{Kind: send, Action: unpaired(a)})
		l.out[peer] = append(l.out[peer], Step{Kind: recv, Action: unpaired(to)})
	}
}

// receiver returns the action's counterpart on the stage that consumes its
// output, and that stage's base cell.
func (l *lowering) receiver(rank int, a Action, slot int) (Action, int) {
	if a.Op == Forward {
		_, c, _ := l.p.Next(rank, int(a.Chunk))
		return Forward.At(int(a.Microbatch), c), l.w.nextBase[slot]
	}
	_, c, _ := l.p.Prev(rank, int(a.Chunk))
	return Backward.At(int(a.Microbatch), c), l.w.prevBase[slot]
}

func unpaired(a Action) Action {
	a.Pair = false
	return a
}

// stepToken writes a step in torch's notation.
func (p *Program) stepToken(rank int, s Step) string {
	stage := p.Stage(rank, int(s.Action.Chunk))
	mb := p.fileMicrobatch(s.Action)
	if s.Kind == Compute {
		return fmt.Sprintf("%d%s%d", stage, s.Action.Op, mb)
	}
	return fmt.Sprintf("%d%s%d", stage, s.Kind, mb)
}
