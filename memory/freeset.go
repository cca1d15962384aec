package memory

import "slices"

// entry is a block in an ordered set. Blocks of one set are ordered by size,
// then by address; sets that are ordered by address alone use size 0.
type entry struct {
	size, addr int64
	block      int32
}

func (e *entry) before(size, addr int64) bool {
	return e.size < size || e.size == size && e.addr < addr
}

// chunkCap keeps a chunk at 1.5 KiB: moving half of one costs about as much as
// finding the place in it.
const chunkCap = 64

type chunk struct {
	n int
	e [chunkCap]entry
}

// freeSet is an ordered set of blocks: a sorted list of sorted chunks, which
// is a B-tree of two levels. It finds and changes an element in O(log n) plus
// the move of at most one chunk and, rarely, of the list of chunks.
type freeSet struct {
	chunks []*chunk
	last   []key // of each chunk, side by side: a search reads no chunk but one
	spare  []*chunk
	n      int
}

// key is what a set is ordered by.
type key struct{ size, addr int64 }

func (e *entry) key() key { return key{e.size, e.addr} }

// pos is a place in a freeSet. Changing the set invalidates it.
type pos struct{ c, i int }

// lowerBound returns the first place whose entry is not before (size, addr).
func (s *freeSet) lowerBound(size, addr int64) pos {
	lo, hi := 0, len(s.chunks)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if k := &s.last[mid]; k.size < size || k.size == size && k.addr < addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == len(s.chunks) {
		return pos{lo, 0}
	}
	return pos{lo, s.chunks[lo].search(size, addr)}
}

func (k *chunk) search(size, addr int64) int {
	lo, hi := 0, k.n
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if k.e[mid&(chunkCap-1)].before(size, addr) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// valid reports whether there is an entry at p.
func (s *freeSet) valid(p pos) bool { return p.c < len(s.chunks) }

// at returns the block at p.
func (s *freeSet) at(p pos) int32 { return s.chunks[p.c].e[p.i].block }

// next returns the place after p.
func (s *freeSet) next(p pos) pos {
	if p.i+1 < s.chunks[p.c].n {
		return pos{p.c, p.i + 1}
	}
	return pos{p.c + 1, 0}
}

// prev returns the place before p, and false at the beginning.
func (s *freeSet) prev(p pos) (pos, bool) {
	if p.i > 0 {
		return pos{p.c, p.i - 1}, true
	}
	if p.c == 0 {
		return p, false
	}
	return pos{p.c - 1, s.chunks[p.c-1].n - 1}, true
}

// insert adds a block; a block must not be added twice.
func (s *freeSet) insert(e entry) {
	s.n++
	p := s.lowerBound(e.size, e.addr)
	if p.c == len(s.chunks) {
		if p.c == 0 {
			s.chunks, s.last = append(s.chunks, s.newChunk()), append(s.last, key{})
		} else {
			p.c--
		}
		p.i = s.chunks[p.c].n
	}
	k := s.chunks[p.c]
	if k.n == chunkCap {
		s.split(p.c)
		if p.i > k.n {
			p.i -= k.n
			p.c++
			k = s.chunks[p.c]
		}
	}
	copy(k.e[p.i+1:k.n+1], k.e[p.i:k.n])
	k.e[p.i] = e
	k.n++
	if p.i == k.n-1 {
		s.last[p.c] = e.key()
	}
}

// split moves the upper half of chunk c into a new chunk behind it.
func (s *freeSet) split(c int) {
	k, up := s.chunks[c], s.newChunk()
	up.n = copy(up.e[:], k.e[chunkCap/2:])
	k.n = chunkCap / 2
	s.chunks = slices.Insert(s.chunks, c+1, up)
	s.last = slices.Insert(s.last, c, k.e[k.n-1].key())
}

func (s *freeSet) newChunk() *chunk {
	if last := len(s.spare) - 1; last >= 0 {
		k := s.spare[last]
		s.spare = s.spare[:last]
		return k
	}
	return new(chunk)
}

// erase removes the entry at p.
func (s *freeSet) erase(p pos) {
	s.n--
	k := s.chunks[p.c]
	copy(k.e[p.i:k.n-1], k.e[p.i+1:k.n])
	k.n--
	if p.i == k.n && k.n > 0 {
		s.last[p.c] = k.e[k.n-1].key()
	}
	switch {
	case k.n == 0:
		s.drop(p.c)
	case k.n < chunkCap/4 && p.c+1 < len(s.chunks) && s.chunks[p.c+1].n < chunkCap/2:
		next := s.chunks[p.c+1]
		k.n += copy(k.e[k.n:], next.e[:next.n])
		s.last[p.c] = s.last[p.c+1]
		s.drop(p.c + 1)
	}
}

func (s *freeSet) drop(c int) {
	k := s.chunks[c]
	k.n = 0
	s.spare = append(s.spare, k)
	s.chunks, s.last = slices.Delete(s.chunks, c, c+1), slices.Delete(s.last, c, c+1)
}

// remove deletes the entry of (size, addr), which must be in the set.
func (s *freeSet) remove(size, addr int64) { s.erase(s.lowerBound(size, addr)) }

// list appends the blocks in order to buf.
func (s *freeSet) list(buf []int32) []int32 {
	for _, k := range s.chunks {
		for i := range k.e[:k.n] {
			buf = append(buf, k.e[i].block)
		}
	}
	return buf
}
