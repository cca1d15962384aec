package snapshot

// memo remembers the values of a pickle that are used more than once. Nearly
// all uses are of the first few thousand, the names of the fields.
type memo struct {
	wanted [memoDense]bool
	set    [memoDense]bool
	first  [memoDense]value
	later  map[int64]struct{} // wanted ones beyond
	rest   map[int64]value
	n      int // how many are wanted
}

const memoDense = 1 << 12

func newMemo() *memo {
	return &memo{later: map[int64]struct{}{}, rest: map[int64]value{}}
}

// want notes that the value at an index is fetched somewhere.
func (m *memo) want(at int64) {
	if at < memoDense {
		if !m.wanted[at] {
			m.wanted[at] = true
			m.n++
		}
		return
	}
	if _, ok := m.later[at]; !ok {
		m.later[at] = struct{}{}
		m.n++
	}
}

func (m *memo) isWanted(at int64) bool {
	if at < memoDense {
		return m.wanted[at]
	}
	_, ok := m.later[at]
	return ok
}

func (m *memo) put(at int64, v value) {
	if at < memoDense {
		m.first[at], m.set[at] = v, true
		return
	}
	m.rest[at] = v
}

func (m *memo) get(at int64) (value, bool) {
	if at < memoDense {
		return m.first[at], m.set[at]
	}
	v, ok := m.rest[at]
	return v, ok
}
