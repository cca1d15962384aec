package schedule

// dualComm collects a rank's list as DualPipe communicates: transfers are
// queued, and every action first runs what is queued as one batch.
type dualComm struct {
	*steps
	queue []Step
}

// lowerDualPipe gives DualPipe's and DualPipeV's lists their transfers. Most
// actions queue their receives before and their sends after themselves; where
// a forward of each direction follow each other, the receive of the first is
// queued early, and its send late, so that they share a batch with what else
// there is to move.
func (p *Program) lowerDualPipe(rank int) []Step {
	d := &dualComm{steps: p.newSteps(rank)}
	q, h, n := p.Ranks, rank, p.Microbatches
	if p.Placement == Bidirectional {
		q, h, n = p.Ranks/2, min(rank, p.Ranks-1-rank), p.Microbatches/2
	}
	d.run(p.Lists[rank], q, h, n)
	return d.list
}

func (d *dualComm) enqueue(s Step) { d.queue = append(d.queue, s) }

// commit runs the queue as one batch.
func (d *dualComm) commit() {
	d.batch(d.queue)
	d.queue = d.queue[:0]
}

// plain runs actions with their receives queued before and sends after them.
func (d *dualComm) plain(actions ...Action) {
	for _, a := range actions {
		if a.Op != BackwardWeight {
			d.enqueue(recvOf(a))
		}
	}
	d.bare(actions...)
	for _, a := range actions {
		if a.Op != BackwardWeight {
			d.enqueue(sendOf(a))
		}
	}
}

// bare runs actions without queueing anything for them.
func (d *dualComm) bare(actions ...Action) {
	d.commit()
	d.compute(actions...)
}

// run walks through the parts of the schedule; see dualList.build for them.
func (d *dualComm) run(list []Action, q, h, n int) {
	rest, middle := q-h-1, h == q-1
	take := func() Action {
		a := list[0]
		list = list[1:]
		return a
	}
	for range 2 * rest {
		d.plain(take())
	}
	list = d.bothForwards(list, h+1, middle)
	for range rest {
		d.plain(take())
		weight, forward := take(), take()
		d.enqueue(recvOf(forward))
		d.bare(weight)
		d.bare(forward)
		d.enqueue(sendOf(forward))
	}
	if n-2*q+h+1 > 0 {
		list = d.firstPair(list, middle)
	}
	for len(list) > 0 {
		actions := list[:unit(list, 0)]
		list = list[len(actions):]
		d.plain(actions...)
	}
	d.commit()
}

// bothForwards runs times forwards of each phase. The receive for the next of
// phase 0 is queued before the forward of phase 1, and that one's receive
// together with it.
func (d *dualComm) bothForwards(list []Action, times int, middle bool) []Action {
	d.enqueue(recvOf(list[0]))
	for i := range times {
		first, second := list[0], list[1]
		list = list[2:]
		d.bare(first)
		if middle {
			d.enqueue(sendOf(first))
		}
		if next, ok := d.nextForward(list, first); ok {
			d.enqueue(recvOf(next))
		}
		d.enqueue(recvOf(second))
		d.bare(second)
		if !middle || i < times-1 {
			d.enqueue(sendOf(second))
		}
		if !middle {
			d.enqueue(sendOf(first))
		}
	}
	return list
}

// nextForward returns the next forward of the same chunk.
func (d *dualComm) nextForward(list []Action, a Action) (Action, bool) {
	for _, b := range list {
		if b.Op == Forward && b.Chunk == a.Chunk {
			return b, true
		}
	}
	return Action{}, false
}

// firstPair runs the first forward and backward of the steady state, whose
// forward has been received already.
func (d *dualComm) firstPair(list []Action, middle bool) []Action {
	forward, backward := list[0], list[1]
	if middle { // as two actions; the last forward of the other phase is sent between them
		d.bare(forward)
		d.enqueue(sendOf(d.lastForward(backward.Chunk)))
		d.enqueue(recvOf(backward))
		d.bare(backward)
	} else {
		d.enqueue(recvOf(backward))
		d.bare(forward, backward)
	}
	d.enqueue(sendOf(forward))
	d.enqueue(sendOf(backward))
	return list[2:]
}

// lastForward returns a chunk's last forward so far.
func (d *dualComm) lastForward(chunk int16) Action {
	for i := len(d.list) - 1; i >= 0; i-- {
		if s := d.list[i]; s.Kind == Compute && s.Action.Op == Forward && s.Action.Chunk == chunk {
			return s.Action
		}
	}
	return Action{Chunk: chunk}
}
