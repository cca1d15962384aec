package snapshot

import "trainsim/memory"

// start gives the allocator what was held when the trace began: the recorded
// segments exactly, or only their blocks.
func (p *player) start(exact bool) {
	p.out.Recorded = &Recorded{}
	for i := range p.r.origin.segments {
		p.now += p.r.origin.segments[i].Size
	}
	p.out.Recorded.PeakReserved = p.now
	var refs map[int64]memory.Ref
	if exact {
		refs = p.a.Restore(p.r.origin.segments, p.r.origin.lowest)
	}
	for _, b := range p.r.origin.blocks {
		ref, seeded := refs[b.Addr]
		if !seeded {
			var err error
			ref, err = p.a.Malloc(b.Requested, int(b.stream), memory.Temporaries)
			p.failed(-1, err)
		}
		h := holding{ref: ref}
		if b.State == memory.PendingFree && ref != 0 {
			h.ticket = p.a.RequestFree(ref)
		}
		p.held[b.Addr] = h
	}
	p.out.StartAllocated = p.a.Allocated()
	p.watch()
}

// follow replays entry i of the trace.
func (p *player) follow(i int) {
	e := &p.r.trace[i]
	h, held := p.held[e.Addr]
	switch e.Action {
	case memory.ActionAlloc, memory.ActionFreeRequested, memory.ActionOOM:
		p.bursts = false
	}
	switch e.Action {
	case memory.ActionAlloc:
		p.replace(e.Addr, h)
		p.held[e.Addr] = holding{ref: p.alloc(i, e.Size, e.Stream)}
		p.settle()
		p.compare()
	case memory.ActionFreeRequested:
		p.requestFree(i, h, held)
	case memory.ActionFreeCompleted:
		if held {
			delete(p.held, e.Addr)
			p.completeFree(i, h)
		}
	case memory.ActionOOM:
		p.out.Recorded.OOMs++
		if ref := p.alloc(i, e.Size, e.Stream); ref != 0 {
			p.out.AvoidedOOMs++
			p.a.Free(ref)
		}
		p.settle()
	case memory.ActionSegmentAlloc, memory.ActionSegmentFree, memory.ActionSegmentMap, memory.ActionSegmentUnmap:
		p.segment(i)
	}
	p.watch()
}

// requestFree frees at once, or only in part when the trace shows that the
// block waited for events.
func (p *player) requestFree(i int, h holding, held bool) {
	e := &p.r.trace[i]
	if !held || h.ticket != 0 {
		p.out.Unmatched++
		return
	}
	atOnce := i+1 < len(p.r.trace) && p.r.trace[i+1].Action == memory.ActionFreeCompleted &&
		p.r.trace[i+1].Addr == e.Addr
	if atOnce || h.ref == 0 {
		p.a.Free(h.ref)
		delete(p.held, e.Addr)
		return
	}
	h.ticket = p.a.RequestFree(h.ref)
	p.held[e.Addr] = h
}

// completeFree makes a block reusable. When the allocation in whose course it
// became so went on to give memory back or failed, that is left to the
// replay's own allocation: it may have happened after the search had failed.
func (p *player) completeFree(i int, h holding) {
	next, _ := p.decision(i + 1)
	if h.ticket != 0 && next < len(p.r.trace) &&
		(p.r.trace[next].Reserves() < 0 || p.r.trace[next].Action == memory.ActionOOM) {
		p.postponed = append(p.postponed, h)
		return
	}
	p.release(h)
}

// settle makes reusable what an allocation was to make so and did not.
func (p *player) settle() {
	for _, h := range p.postponed {
		p.release(h)
	}
	p.postponed = p.postponed[:0]
}

// segment follows what the recorded allocator did with the driver. Segments
// that were given back for no allocation's sake mean torch.cuda.empty_cache.
func (p *player) segment(i int) {
	e := &p.r.trace[i]
	if e.Reserves() < 0 && !p.bursts && !p.madeRoom(i) {
		p.a.EmptyCache()
	}
	p.bursts = e.Reserves() < 0
	p.now += e.Reserves()
	p.out.Recorded.PeakReserved = max(p.out.Recorded.PeakReserved, p.now)
}

// madeRoom reports whether the segments given back from entry i on made room
// for an allocation: one that follows and failed, or got new memory that the
// driver or the limit would have refused before. While garbage collection
// works, one that got new memory at all.
func (p *player) madeRoom(i int) bool {
	_, next := p.decision(i)
	mapped := int64(0)
	for ; next < len(p.r.trace) && p.r.trace[next].Reserves() > 0; next++ {
		mapped += p.r.trace[next].Size
	}
	if next == len(p.r.trace) {
		return false
	}
	e := &p.r.trace[next]
	switch {
	case p.a.Cached(e.Size, int(e.Stream)): // it would have been served from the cache
		return false
	case e.Action == memory.ActionOOM:
		return true
	case e.Action != memory.ActionAlloc || mapped == 0:
		return false
	}
	return p.a.MakesRoom(e.Size, p.now) || p.out.Capacity > 0 && p.now+mapped > p.out.Capacity
}

// decision returns the first entry from i on that is no completed free, and
// the first that neither completes a free nor gives a segment back. i never
// goes back, so that looking ahead costs one pass over the trace.
func (p *player) decision(i int) (first, last int) {
	p.first, p.last = max(p.first, i), max(p.last, i)
	for p.first < len(p.r.trace) && completes(&p.r.trace[p.first]) {
		p.first++
	}
	for p.last < len(p.r.trace) && (completes(&p.r.trace[p.last]) || p.r.trace[p.last].Reserves() < 0) {
		p.last++
	}
	return p.first, p.last
}

// completes reports whether an entry is a completed free, or an annotation that
// may stand between such.
func completes(e *memory.TraceEntry) bool {
	return e.Action == memory.ActionFreeCompleted || e.Action == memory.ActionOther
}

// compare measures how far the replay's reserved memory is from the recorded.
func (p *player) compare() {
	rec := p.out.Recorded
	difference := p.a.Reserved() - p.now
	if difference == 0 {
		rec.Same++
	}
	rec.MaxDifference = max(rec.MaxDifference, difference, -difference)
}
