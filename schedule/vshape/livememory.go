package vshape

// rankMemory counts the live activations of one rank of a layout, slot by
// slot. Where weight gradients are not laid out, one runs in every empty slot
// that has one due.
type rankMemory struct {
	kind     []int8 // pass of a slot, passes for a weight gradient, -1 for none
	explicit bool
	live     []int // before each slot
	due      []int // weight gradients due before each slot
	most     []int // most live activations before each slot
	clean    int   // the three are right up to this slot
}

func newRankMemory(l *layout, rank int) rankMemory {
	m := rankMemory{kind: l.row(rank), explicit: l.weights != nil}
	n := len(m.kind) + 1
	m.live, m.due, m.most = make([]int, n), make([]int, n), make([]int, n)
	return m
}

// step returns the state after a slot from the state before it.
func (m *rankMemory) step(kind int8, live, due int) (int, int) {
	switch {
	case kind == passDown || kind == passUp:
		live++
	case kind == passBackDown || kind == passBackUp:
		due++
	case kind == passes:
		live--
	case !m.explicit && due > 0:
		live--
		due--
	}
	return live, due
}

// extend brings the stored states up to a slot.
func (m *rankMemory) extend(slot int) {
	for ; m.clean < slot; m.clean++ {
		i := m.clean
		m.live[i+1], m.due[i+1] = m.step(m.kind[i], m.live[i], m.due[i])
		m.most[i+1] = max(m.most[i], m.live[i+1])
	}
}

// peak returns the most live activations.
func (m *rankMemory) peak() int {
	m.extend(len(m.kind))
	return m.most[len(m.kind)]
}

// try moves what is in slot from to the earlier empty slot to, unless more
// than limit activations would then be live at any time.
func (m *rankMemory) try(from, to, limit int) bool {
	m.extend(to)
	m.kind[to], m.kind[from] = m.kind[from], -1
	if m.most[to] <= limit && m.fits(to, limit) {
		m.clean = to
		return true
	}
	m.kind[from], m.kind[to] = m.kind[to], -1
	m.clean = min(m.clean, to)
	return false
}

// fits reports whether memory stays within limit from a slot on.
func (m *rankMemory) fits(slot, limit int) bool {
	live, due := m.live[slot], m.due[slot]
	for _, kind := range m.kind[slot:] {
		live, due = m.step(kind, live, due)
		if live > limit {
			return false
		}
	}
	return true
}
