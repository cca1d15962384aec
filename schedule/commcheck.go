package schedule

// checkSteps replays imported lists with communication: a receive waits for
// its send, an action needs its receive earlier in its own list, and sends do
// not wait.
func (p *Program) checkSteps() error {
	if p.steps == nil {
		return nil
	}
	c := &stepCheck{p: p, w: newWiring(p), position: make([]int, p.Ranks)}
	c.sent, c.have = make([]uint8, c.w.cells), make([]uint8, c.w.cells)
	for progress := true; progress; {
		progress = false
		for r := range p.steps {
			moved, err := c.advance(r)
			if err != nil {
				return err
			}
			progress = progress || moved
		}
	}
	for r, at := range c.position {
		if at < len(p.steps[r]) {
			return &CheckError{Rank: r, Index: at, Token: p.stepToken(r, p.steps[r][at]), Deadlock: true, Steps: true,
				Reason: "deadlock: no rank sends what this waits for"}
		}
	}
	return nil
}

// stepCheck is the state of a replay with communication. Marks are kept by the
// cell that consumes: doneForward for the activation, doneInput for the
// gradient.
type stepCheck struct {
	p          *Program
	w          *wiring
	position   []int
	sent, have []uint8
}

// advance runs a rank's steps until one waits, and reports whether any ran.
func (c *stepCheck) advance(rank int) (moved bool, err error) {
	for c.position[rank] < len(c.p.steps[rank]) {
		s := c.p.steps[rank][c.position[rank]]
		ok, reason := c.run(rank, s)
		if reason != "" {
			return false, &CheckError{Rank: rank, Index: c.position[rank], Token: c.p.stepToken(rank, s),
				Reason: reason, Steps: true}
		}
		if !ok {
			return moved, nil
		}
		c.position[rank]++
		moved = true
	}
	return moved, nil
}

// run performs a step; ok is false while it has to wait.
func (c *stepCheck) run(rank int, s Step) (ok bool, fault string) {
	slot := c.w.slot(rank, s.Action)
	own := c.w.base[slot] + int(s.Action.Microbatch)
	switch s.Kind {
	case Compute:
		return c.compute(rank, s.Action, slot, own)
	case SendForward, SendBackward:
		return c.send(rank, s, slot, own)
	}
	return c.receive(rank, s, slot, own)
}

// Marks of stepCheck.have beside doneForward and doneInput: what the cell has
// computed itself.
const (
	madeForward uint8 = 1 << (iota + 4)
	madeInput
)

func made(op Op) uint8 {
	if op == Forward {
		return madeForward
	}
	return madeInput
}

func (c *stepCheck) compute(rank int, a Action, slot, own int) (bool, string) {
	cell, from, waits := c.w.input(slot, a)
	switch {
	case !waits:
	case int(from) == rank && c.have[cell]&made(a.Op) == 0:
		return false, "comes before the action of its own rank that it needs"
	case int(from) != rank && c.have[own]&inputMark(a.Op) == 0:
		return false, "comes before the receive of its input; write the RECV first"
	}
	if a.Op != BackwardWeight {
		c.have[own] |= made(a.Op)
	}
	return true, ""
}

func (c *stepCheck) send(rank int, s Step, slot, own int) (bool, string) {
	a := s.Action
	peer := c.w.output(slot, a)
	_, base := (&lowering{p: c.p, w: c.w}).receiver(rank, a, slot)
	switch {
	case peer < 0 || int(peer) == rank:
		return false, "sends to no other rank; leave it out"
	case c.have[own]&made(a.Op) == 0:
		return false, "comes before the action that computes it"
	case c.sent[base+int(a.Microbatch)]&inputMark(a.Op) != 0:
		return false, "is sent a second time"
	}
	c.sent[base+int(a.Microbatch)] |= inputMark(a.Op)
	return true, ""
}

func (c *stepCheck) receive(rank int, s Step, slot, own int) (bool, string) {
	_, from, waits := c.w.input(slot, s.Action)
	mark := inputMark(s.Action.Op)
	switch {
	case !waits || int(from) == rank:
		return false, "receives from no other rank; leave it out"
	case c.have[own]&mark != 0:
		return false, "is received a second time"
	case c.sent[own]&mark == 0:
		return false, ""
	}
	c.have[own] |= mark
	return true, ""
}
