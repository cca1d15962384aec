package schedule

import (
	"errors"
	"fmt"
	"strings"
)

// ErrDeadlock is what a deadlock wraps: ranks that run their lists in order wait
// for each other, or one for itself, for ever.
var ErrDeadlock = errors.New("deadlock")

// CheckError says why a program cannot run and where that is first seen.
type CheckError struct {
	Rank     int    // first offending rank
	Index    int    // position in its list; the list's length where something is missing
	Token    string // the action, as a token
	Reason   string // what is wrong with it
	Deadlock bool   // the error wraps ErrDeadlock
	Steps    bool   // Index counts sends and receives too (see Program.LowerAs)
}

// Error names the rank, the action and the reason.
func (e *CheckError) Error() string {
	return fmt.Sprintf("schedule: rank %d, action %d (%s): %s", e.Rank, e.Index, e.Token, e.Reason)
}

// Unwrap returns ErrDeadlock where it is one.
func (e *CheckError) Unwrap() error {
	if e.Deadlock {
		return ErrDeadlock
	}
	return nil
}

// Marks that checking leaves on a cell (one stage and one micro-batch).
const (
	doneForward uint8 = 1 << iota
	doneInput         // I or B
	doneWeight        // W or B
	doneAll     = doneForward | doneInput | doneWeight
)

func marks(op Op) uint8 {
	switch op {
	case Forward:
		return doneForward
	case BackwardInput:
		return doneInput
	case BackwardWeight:
		return doneWeight
	}
	return doneInput | doneWeight
}

// needs returns the marks of the same cell that an operation builds upon.
func needs(op Op) uint8 {
	switch op {
	case Forward:
		return 0
	case BackwardWeight:
		return doneForward | doneInput
	}
	return doneForward
}

// Check proves that the program can run: every micro-batch passes forward and
// backward once through every chunk, each action follows what it needs on its
// own rank, and ranks that run their lists in order never wait for each other
// in a circle. The error is a *CheckError that names the first offending rank
// and action.
func (p *Program) Check() error {
	_, err := p.check()
	return err
}

// check is Check. runs reports whether every rank could run its list if only
// its inputs came: then a simulation of the program shows the deadlock.
func (p *Program) check() (runs bool, err error) {
	if err := p.checkShape(); err != nil {
		return false, err
	}
	w := newWiring(p)
	state := make([]uint8, w.cells)
	for r := range p.Lists {
		if err := p.checkList(w, state, r); err != nil {
			return false, err
		}
	}
	for r := range p.Lists {
		if err := p.checkComplete(w, state, r); err != nil {
			return false, err
		}
	}
	clear(state)
	if err := p.checkOrder(w, state); err != nil {
		return true, err
	}
	return false, p.checkSteps()
}

// checkShape refuses counts that contradict each other.
func (p *Program) checkShape() error {
	switch {
	case p.Ranks < 1 || p.Chunks < 1 || p.Microbatches < 1:
		return fmt.Errorf("schedule: %d ranks, %d chunks, %d micro-batches; each is at least 1", p.Ranks, p.Chunks,
			p.Microbatches)
	case len(p.Lists) != p.Ranks:
		return fmt.Errorf("schedule: %d lists for %d ranks; write one list a rank", len(p.Lists), p.Ranks)
	case p.Placement == Bidirectional && (p.Chunks != 2 || p.Ranks%2 != 0 || p.totalMicrobatches()%2 != 0):
		return fmt.Errorf("schedule: a bidirectional program has 2 chunks a rank, an even number of ranks and of "+
			"micro-batches; got %d, %d and %d", p.Chunks, p.Ranks, p.totalMicrobatches())
	case p.Placement == Custom && len(p.stages) != p.Ranks*p.Chunks, p.Placement > Custom:
		return fmt.Errorf("schedule: placement %s without a stage for each chunk; read such a program with ParseCSV",
			p.Placement)
	}
	return nil
}

// checkList looks at one list alone: valid entries, each once, each after what
// it needs on this rank.
func (p *Program) checkList(w *wiring, state []uint8, rank int) error {
	list := p.Lists[rank]
	for i := 0; i < len(list); {
		n := unit(list, i)
		if err := p.checkPair(rank, i, n); err != nil {
			return err
		}
		for j := i; j < i+n; j++ {
			if err := p.checkAction(w, state, rank, j); err != nil {
				return err
			}
		}
		for j := i; j < i+n; j++ {
			a := list[j]
			cell := w.base[w.slot(rank, a)] + int(a.Microbatch)
			state[cell] |= marks(a.Op)
		}
		i += n
	}
	return nil
}

func (p *Program) checkAction(w *wiring, state []uint8, rank, i int) error {
	a := p.Lists[rank][i]
	switch {
	case a.Op > Backward:
		return p.fault(rank, i, "no such operation; a list holds F, I, W and B")
	case a.Chunk < 0 || int(a.Chunk) >= p.Chunks:
		return p.fault(rank, i, fmt.Sprintf("chunk %d; the rank has chunks 0 to %d", a.Chunk, p.Chunks-1))
	case a.Microbatch < 0 || int(a.Microbatch) >= w.perPipe:
		return p.fault(rank, i, fmt.Sprintf("micro-batch %d; the pipe has micro-batches 0 to %d", a.Microbatch,
			w.perPipe-1))
	}
	have := state[w.base[w.slot(rank, a)]+int(a.Microbatch)]
	if have&marks(a.Op) != 0 {
		return p.fault(rank, i, "runs a second time; each micro-batch passes once through each chunk")
	}
	if missing := needs(a.Op) &^ have; missing != 0 {
		return p.orderFault(rank, i, missing)
	}
	return nil
}

// checkPair refuses pairs other than one forward and one backward.
func (p *Program) checkPair(rank, i, n int) error {
	if n == 1 {
		return nil
	}
	list := p.Lists[rank]
	if i+1 >= len(list) {
		return p.fault(rank, i, "is paired with the next action, but the list ends here")
	}
	a, b := list[i], list[i+1]
	if b.Pair || (a.Op == Forward) == (b.Op == Forward) || a.Op == BackwardWeight || b.Op == BackwardWeight {
		return p.fault(rank, i, "is paired with "+p.token(rank, b)+"; a pair is one forward and one backward (B or I)")
	}
	return nil
}

// checkComplete reports the first thing that a rank's list leaves out.
func (p *Program) checkComplete(w *wiring, state []uint8, rank int) error {
	for c := range p.Chunks {
		base := w.base[rank*p.Chunks+c]
		for mb, have := range state[base : base+w.perPipe] {
			if have == doneAll {
				continue
			}
			a := Action{Op: firstMissing(have), Chunk: int16(c), Microbatch: int32(mb)}
			return &CheckError{Rank: rank, Index: len(p.Lists[rank]), Token: p.token(rank, a),
				Reason: "is missing; each micro-batch passes forward and backward through each chunk"}
		}
	}
	return nil
}

func firstMissing(have uint8) Op {
	switch {
	case have&doneForward == 0:
		return Forward
	case have&doneInput == 0:
		return Backward
	}
	return BackwardWeight
}

func describeMarks(m uint8) string {
	var words []string
	if m&doneForward != 0 {
		words = append(words, "F")
	}
	if m&doneInput != 0 {
		words = append(words, "I")
	}
	return strings.Join(words, " and ")
}

// orderFault reports an action that stands before what it needs, so that its
// rank waits for itself.
func (p *Program) orderFault(rank, i int, missing uint8) error {
	return &CheckError{Rank: rank, Index: i, Token: p.token(rank, p.Lists[rank][i]), Deadlock: true,
		Reason: "comes before its own " + describeMarks(missing) + " on this rank"}
}

func (p *Program) fault(rank, i int, reason string) error {
	return &CheckError{Rank: rank, Index: i, Token: p.token(rank, p.Lists[rank][i]), Reason: reason}
}

// token writes an action as the program's reader knows it: in the notation of
// Tokens, or as it stands in the file.
func (p *Program) token(rank int, a Action) string {
	if p.Kind == csvKind {
		return p.stepToken(rank, Step{Action: a})
	}
	return string(a.appendToken(nil, p.Chunks))
}
