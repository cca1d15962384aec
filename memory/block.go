package memory

import "trainsim/memory/blockset"

// Ref is a handle to an allocation. The zero Ref stands for an allocation of
// zero bytes. A Ref is reused after its block was freed.
type Ref int32

// state is what a block is used for.
type state uint8

const (
	unused   state = iota // the table entry is not a block
	idle                  // mapped and in the free set
	live                  // handed out
	pending               // freed, waiting for events of other streams
	unmapped              // address space of an expandable window without memory
)

// block is a range of addresses. The blocks of a segment or window are linked
// in order of address. It fills one cache line.
type block struct {
	addr, size int64
	requested  int64  // what the caller asked for
	born       uint64 // the pool's search counter when it entered the free set
	prev, next int32  // neighbours, 0 none
	set        int32  // the pool and stream to which it belongs
	uses       int32  // first record of a use on another stream, 0 none
	events     int32  // events that are not finished
	window     int32  // 1 + the expandable window, 0 for a cudaMalloc segment
	state      state
	kind       Kind
}

func (b *block) split() bool { return b.prev != 0 || b.next != 0 }

// available reports whether nothing uses the block's addresses.
func (b *block) available() bool { return b.state == idle || b.state == unmapped }

// pool is one of the two sizes of the default or a private pool.
type pool struct {
	small    bool
	private  int     // 1 + index of the private pool, 0 for the default one
	order    []int32 // its sets by ascending stream
	searches uint64  // counts searches while garbage collection is on
	last     int32   // the set that was asked for last
	byStream map[int]int32
}

// set holds the blocks of one pool and stream.
type set struct {
	pool     int32
	stream   int
	free     blockset.Set // idle blocks by size and address
	unmapped blockset.Set // pieces of windows without memory, by address
}

// Indices of the default pools.
const (
	smallPool = 0
	largePool = 1
)

// setFor returns the set of a pool and stream, made on first use.
func (a *Allocator) setFor(p int32, stream int) int32 {
	pl := &a.pools[p]
	if pl.last >= 0 && a.sets[pl.last].stream == stream {
		return pl.last
	}
	s, ok := pl.byStream[stream]
	if !ok {
		s = a.newSet(p, stream)
	}
	pl.last = s
	return s
}

func (a *Allocator) newSet(p int32, stream int) int32 {
	s := int32(len(a.sets))
	a.sets = append(a.sets, set{pool: p, stream: stream})
	pl := &a.pools[p]
	pl.byStream[stream] = s
	pl.order = append(pl.order, s)
	for i := len(pl.order) - 1; i > 0 && a.sets[pl.order[i-1]].stream > stream; i-- {
		pl.order[i], pl.order[i-1] = pl.order[i-1], pl.order[i]
	}
	return s
}

func (a *Allocator) newPool(small bool, private int) int32 {
	a.pools = append(a.pools, pool{small: small, private: private, last: -1, byStream: map[int]int32{}})
	return int32(len(a.pools) - 1)
}

// newBlock returns an unlinked block of the table.
func (a *Allocator) newBlock(s int32, addr, size int64) int32 {
	i := a.recycled
	if i != 0 {
		a.recycled = a.blocks[i].next
	} else {
		i = int32(len(a.blocks))
		a.blocks = append(a.blocks, block{})
	}
	a.blocks[i] = block{addr: addr, size: size, set: s}
	return i
}

func (a *Allocator) recycle(i int32) {
	a.blocks[i] = block{next: a.recycled}
	a.recycled = i
}

// splice links block i between two neighbours, either of which may be 0.
func (a *Allocator) splice(i, prev, next int32) {
	a.blocks[i].prev, a.blocks[i].next = prev, next
	if prev != 0 {
		a.blocks[prev].next = i
	}
	if next != 0 {
		a.blocks[next].prev = i
	}
}

// store puts a mapped block into its free set; its age starts anew.
func (a *Allocator) store(i int32) {
	b := &a.blocks[i]
	s := &a.sets[b.set]
	b.state = idle
	b.born = a.pools[s.pool].searches
	s.free.Insert(b.size, b.addr, i)
}

func (a *Allocator) unstore(i int32) {
	b := &a.blocks[i]
	a.sets[b.set].free.Remove(b.size, b.addr)
}

// merge lets block dst take in its neighbour src if that is idle and, like
// dst, with or without memory. It returns the bytes taken in.
func (a *Allocator) merge(dst, src int32, mapped bool) int64 {
	if src == 0 {
		return 0
	}
	d, s := &a.blocks[dst], &a.blocks[src]
	switch {
	case mapped && s.state == idle:
		a.sets[s.set].free.Remove(s.size, s.addr)
	case !mapped && s.state == unmapped:
		a.sets[s.set].unmapped.Remove(0, s.addr)
	default:
		return 0
	}
	if d.prev == src {
		d.addr = s.addr
		d.prev = s.prev
		if d.prev != 0 {
			a.blocks[d.prev].next = dst
		}
	} else {
		d.next = s.next
		if d.next != 0 {
			a.blocks[d.next].prev = dst
		}
	}
	size := s.size
	d.size += size
	a.recycle(src)
	return size
}
