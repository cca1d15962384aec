package memory

// start gives the allocator what was held when the trace began: the recorded
// segments exactly, or only their blocks.
func (p *player) start(exact bool) {
	p.out.Recorded = &Recorded{}
	for i := range p.r.origin.segments {
		p.now += p.r.origin.segments[i].Size
	}
	p.out.Recorded.PeakReserved = p.now
	var refs map[int64]Ref
	if exact {
		refs = p.a.seed(&p.r.origin)
	}
	for _, b := range p.r.origin.blocks {
		ref, seeded := refs[b.addr]
		if !seeded {
			var err error
			ref, err = p.a.Malloc(b.requested, int(b.stream), Temporaries)
			p.failed(-1, err)
		}
		h := holding{ref: ref}
		if b.pending && ref != 0 {
			h.ticket = p.a.park(ref)
		}
		p.held[b.addr] = h
	}
	p.out.StartAllocated = p.a.Allocated()
	p.watch(-1)
}

// follow replays entry i of the trace.
func (p *player) follow(i int) {
	e := &p.r.trace[i]
	h, held := p.held[e.Addr]
	switch e.Action {
	case ActionAlloc, ActionFreeRequested, ActionOOM:
		p.bursts = false
	}
	switch e.Action {
	case ActionAlloc:
		p.replace(e.Addr, h)
		p.held[e.Addr] = holding{ref: p.alloc(i, e.Size, e.Stream)}
		p.compare()
	case ActionFreeRequested:
		p.requestFree(i, h, held)
	case ActionFreeCompleted:
		if held {
			p.release(h)
			delete(p.held, e.Addr)
		}
	case ActionOOM:
		p.out.Recorded.OOMs++
		if ref := p.alloc(i, e.Size, e.Stream); ref != 0 {
			p.out.AvoidedOOMs++
			p.a.Free(ref)
		}
	case ActionSegmentAlloc, ActionSegmentFree, ActionSegmentMap, ActionSegmentUnmap:
		p.segment(i)
	}
	p.watch(i)
}

// requestFree frees at once, or only in part when the trace shows that the
// block waited for events.
func (p *player) requestFree(i int, h holding, held bool) {
	e := &p.r.trace[i]
	p.out.Frees++
	if !held || h.ticket != 0 {
		p.out.Unmatched++
		return
	}
	atOnce := i+1 < len(p.r.trace) && p.r.trace[i+1].Action == ActionFreeCompleted && p.r.trace[i+1].Addr == e.Addr
	if atOnce || !p.a.isLive(h.ref) {
		p.a.Free(h.ref)
		delete(p.held, e.Addr)
		return
	}
	h.ticket = p.a.park(h.ref)
	p.held[e.Addr] = h
}

// segment follows what the recorded allocator did with the driver. Segments
// that were given back outside of an allocation mean torch.cuda.empty_cache.
func (p *player) segment(i int) {
	e := &p.r.trace[i]
	p.now += e.reserves()
	p.out.Recorded.PeakReserved = max(p.out.Recorded.PeakReserved, p.now)
	if e.reserves() >= 0 {
		p.bursts = false
		return
	}
	if !p.bursts && p.emptiedCache(i) {
		p.a.EmptyCache()
	}
	p.bursts = true
}

// emptiedCache reports whether the run of segments given back that begins at
// entry i is followed by something else than the allocation it made room for.
func (p *player) emptiedCache(i int) bool {
	for ; i < len(p.r.trace); i++ {
		switch p.r.trace[i].Action {
		case ActionSegmentFree, ActionSegmentUnmap, ActionFreeCompleted, ActionOther:
		case ActionSegmentAlloc, ActionSegmentMap, ActionOOM:
			return false
		default:
			return true
		}
	}
	return true
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
