package snapshot

import (
	"context"
	"errors"

	"trainsim/memory"
)

// ReplayOptions change what a recording is replayed under.
type Options struct {
	// Conf replaces the settings of the recording; nil keeps them.
	Conf *memory.Conf
	// Capacity replaces what the driver can give, in bytes; 0 keeps it, or
	// leaves it without bound where the recording does not know it.
	Capacity int64
	// Fraction replaces the memory fraction; 0 keeps it.
	Fraction float64
	// Trace records the replay's own history in Replay.Snapshot.
	Trace bool
}

// ReplayOOM is an allocation that failed in a replay.
type OOM struct {
	Entry int // its index in the recording
	Err   *memory.OutOfMemory
}

// maxReplayOOMs is how many failures a replay lists.
const maxReplayOOMs = 16

// Replay is the result of a replay. Sizes are bytes.
type Replay struct {
	Conf     memory.Conf
	Capacity int64 // 0 when nothing bounded it
	Entries  int   // of the recording
	Allocs   int   // allocations that were tried, without those at the start
	// Unmatched counts entries that contradict the recording itself: frees of
	// what is not allocated, allocations where something is.
	Unmatched int
	// StartAllocated is what was allocated when the recording began.
	StartAllocated int64
	Stats          memory.Stats // at the end
	OOMs           []OOM        // the first sixteen
	OOMCount       int
	// AvoidedOOMs counts allocations that failed in the recording and would
	// not have failed here.
	AvoidedOOMs int
	MaxCached   int64 // the largest amount that was reserved and not active
	// Peak lists the segments at the peak of allocated memory, Final at the end.
	Peak, Final []memory.Segment
	Snapshot    *memory.Snapshot // with ReplayOptions.Trace
	// Recorded is what the recording itself says about reserved memory; nil
	// for a list of operations.
	Recorded *Recorded
}

// Recorded is what a trace says about itself. Sizes are bytes.
type Recorded struct {
	PeakReserved, FinalReserved int64
	OOMs                        int
	// Same counts the allocations after which the replay had reserved exactly
	// as much as the recording, of Allocs; MaxDifference is the largest
	// deviation.
	Same          int
	MaxDifference int64
}

// Replay runs the recording through the allocator. The recorded settings
// start from the recorded segments, other settings from the blocks that were
// live, allocated anew in order of address. The error is the context's, or that
// of a memory fraction outside 0 to 1.
func (r *Recording) Replay(ctx context.Context, o Options) (*Replay, error) {
	p, err := r.player(o)
	if err != nil {
		return nil, err
	}
	if r.ops != nil {
		for i := range r.ops {
			if i%(1<<16) == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			p.operate(i, &r.ops[i])
		}
	} else {
		p.start(o.Conf == nil || o.Conf.Equal(r.Conf))
		for i := range r.trace {
			if i%(1<<16) == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			p.follow(i)
		}
	}
	return p.finish(), nil
}

// player replays a recording on an allocator.
type player struct {
	r      *Recording
	a      *memory.Allocator
	out    *Replay
	traced bool
	held   map[int64]holding // by recorded address, or by id
	now    int64             // reserved in the recording
	bursts bool              // inside a run of segments given back

	first, last int // how far the trace was looked ahead

	postponed []holding // to be made reusable after the allocation under way
}

// holding is what the replay has for a block of the recording. A block that
// could not be allocated has the Ref 0.
type holding struct {
	ref    memory.Ref
	ticket uint64 // of a pending block, 0 otherwise
}

func (r *Recording) player(o Options) (*player, error) {
	conf, capacity, total, fraction := r.Conf, r.capacity, r.total, r.fraction
	if o.Conf != nil {
		conf = *o.Conf
	}
	if o.Capacity > 0 {
		capacity = min(o.Capacity, unlimited)
		total = max(total, capacity)
	}
	if o.Fraction > 0 {
		fraction = o.Fraction
	}
	out := &Replay{Conf: conf, Capacity: capacity, Entries: r.Len()}
	if capacity == 0 && total == 0 {
		capacity = unlimited
	}
	a := memory.New(memory.Config{Capacity: capacity, Total: total, Conf: conf, Device: r.Device, KeepPeak: true,
		Trace: o.Trace})
	return &player{r: r, a: a, out: out, traced: o.Trace, held: map[int64]holding{}}, a.SetFraction(fraction)
}

// alloc allocates for an entry and records a failure.
func (p *player) alloc(entry int, size, stream int64) memory.Ref {
	p.out.Allocs++
	ref, err := p.a.Malloc(size, int(stream), memory.Temporaries)
	p.failed(entry, err)
	return ref
}

func (p *player) failed(entry int, err error) {
	var oom *memory.OutOfMemory
	if !errors.As(err, &oom) {
		return
	}
	p.out.OOMCount++
	if len(p.out.OOMs) < maxReplayOOMs {
		p.out.OOMs = append(p.out.OOMs, OOM{entry, oom})
	}
}

// watch follows the gap between reserved and active memory.
func (p *player) watch() {
	p.out.MaxCached = max(p.out.MaxCached, p.a.Reserved()-p.a.Active())
}

func (p *player) finish() *Replay {
	p.out.Stats = p.a.Stats()
	p.out.Peak, p.out.Final = p.a.SegmentsAtPeak(), p.a.Segments()
	if p.traced {
		p.out.Snapshot = p.a.Snapshot()
	}
	if p.out.Recorded != nil {
		p.out.Recorded.FinalReserved = p.now
	}
	return p.out
}

// operate replays one operation of a list.
func (p *player) operate(i int, o *op) {
	h := p.held[o.n[0]]
	switch o.code {
	case opMalloc, opMallocPrivate:
		p.replace(o.n[0], h)
		if o.code == opMalloc {
			h.ref = p.alloc(i, o.n[1], o.n[2])
		} else {
			var err error
			p.out.Allocs++
			h.ref, err = p.a.MallocPrivate(o.n[1], int(o.n[2]), memory.Temporaries, int(o.n[3]))
			p.failed(i, err)
		}
		p.held[o.n[0]] = h
	case opFree:
		if _, ok := p.held[o.n[0]]; !ok {
			p.out.Unmatched++
		}
		p.a.Free(h.ref)
		delete(p.held, o.n[0])
	case opRecord:
		p.a.RecordStream(h.ref, int(o.n[1]))
	case opComplete:
		p.a.CompleteEvents(int(o.n[0]))
	case opEmpty:
		p.a.EmptyCache()
	case opAbandon:
		p.a.ReleasePrivate(int(o.n[0]))
	case opConf:
		if p.out.Conf.Equal(p.r.Conf) {
			c, _ := p.a.Conf().With(o.text) // check has read it
			p.a.SetConf(c)
		}
	case opFraction:
		_ = p.a.SetFraction(o.x) // check has seen that it is one
	}
	p.watch()
}

// replace frees what the recording lost sight of before something else takes
// its name.
func (p *player) replace(key int64, h holding) {
	if _, ok := p.held[key]; !ok {
		return
	}
	p.out.Unmatched++
	p.release(h)
	delete(p.held, key)
}

// release frees a holding, pending or not.
func (p *player) release(h holding) {
	if h.ticket == 0 {
		p.a.Free(h.ref)
	} else {
		p.a.CompleteFree(h.ref, h.ticket)
	}
}
