package blockset

import "slices"

// Set is an ordered set of blocks: a sorted list of sorted chunks, which is a
// B-tree of two levels. It finds and changes an element in O(log n) plus the move
// of at most one chunk and, rarely, of the list of chunks.
type Set struct {
	chunks []*chunk
	last   []key // of each chunk, side by side: a search reads no chunk but one
	spare  []*chunk
	n      int
}

// entry is a block in a set.
type entry struct {
	size, addr int64
	block      int32
}

func (e *entry) before(size, addr int64) bool {
	return e.size < size || e.size == size && e.addr < addr
}

// chunkCap keeps a chunk at 400 bytes, six lines of cache: most of a search goes
// through the last entries of all chunks, which stay in the first cache.
const chunkCap = 16

type chunk struct {
	n int
	e [chunkCap]entry
}

// key is what a set is ordered by.
type key struct{ size, addr int64 }

func (e *entry) key() key { return key{e.size, e.addr} }

// Pos is a place in a Set. Changing the set invalidates it.
type Pos struct{ c, i int }

// LowerBound returns the first place whose entry is not before (size, addr).
func (s *Set) LowerBound(size, addr int64) Pos {
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
		return Pos{lo, 0}
	}
	return Pos{lo, s.chunks[lo].search(size, addr)}
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

// Valid reports whether there is an entry at p.
func (s *Set) Valid(p Pos) bool { return p.c < len(s.chunks) }

// At returns the block at p.
func (s *Set) At(p Pos) int32 { return s.chunks[p.c].e[p.i].block }

// Len returns how many blocks the set has.
func (s *Set) Len() int { return s.n }

// Begin returns the place of the first entry.
func (s *Set) Begin() Pos { return Pos{} }

// End returns the place behind the last entry.
func (s *Set) End() Pos { return Pos{c: len(s.chunks)} }

// Next returns the place after p.
func (s *Set) Next(p Pos) Pos {
	if p.i+1 < s.chunks[p.c].n {
		return Pos{p.c, p.i + 1}
	}
	return Pos{p.c + 1, 0}
}

// Prev returns the place before p, and false at the beginning.
func (s *Set) Prev(p Pos) (Pos, bool) {
	if p.i > 0 {
		return Pos{p.c, p.i - 1}, true
	}
	if p.c == 0 {
		return p, false
	}
	return Pos{p.c - 1, s.chunks[p.c-1].n - 1}, true
}

// Insert adds a block. No two blocks of a set have the same size and address.
func (s *Set) Insert(size, addr int64, block int32) {
	s.n++
	p := s.LowerBound(size, addr)
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
	k.e[p.i] = entry{size, addr, block}
	k.n++
	if p.i == k.n-1 {
		s.last[p.c] = key{size, addr}
	}
}

// split moves the upper half of chunk c into a new chunk behind it.
func (s *Set) split(c int) {
	k, up := s.chunks[c], s.newChunk()
	up.n = copy(up.e[:], k.e[chunkCap/2:])
	k.n = chunkCap / 2
	s.chunks = slices.Insert(s.chunks, c+1, up)
	s.last = slices.Insert(s.last, c, k.e[k.n-1].key())
}

func (s *Set) newChunk() *chunk {
	if last := len(s.spare) - 1; last >= 0 {
		k := s.spare[last]
		s.spare = s.spare[:last]
		return k
	}
	return new(chunk)
}

// Erase removes the entry at p.
func (s *Set) Erase(p Pos) {
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

func (s *Set) drop(c int) {
	k := s.chunks[c]
	k.n = 0
	s.spare = append(s.spare, k)
	s.chunks, s.last = slices.Delete(s.chunks, c, c+1), slices.Delete(s.last, c, c+1)
}

// Remove deletes the entry of (size, addr), which must be in the set.
func (s *Set) Remove(size, addr int64) { s.Erase(s.LowerBound(size, addr)) }

// Append appends the blocks in order to buf.
func (s *Set) Append(buf []int32) []int32 {
	for _, k := range s.chunks {
		for i := range k.e[:k.n] {
			buf = append(buf, k.e[i].block)
		}
	}
	return buf
}
