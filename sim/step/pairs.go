package step

// pairSlots is how many slots each half of a pair has for its own
// collectives; the last slot of each half is for those that blocked.
const pairSlots = slots / 2

// merge interleaves two blocks as an overlapped pair: while one half waits for
// a collective, the other computes (DualPipe; Megatron-LM's batch-level
// overlap). Both inputs are there before either half begins, both outputs
// leave at the end.
func merge(a, b *block) *block {
	m := &merger{halves: [2]half{{block: a}, {block: b}}}
	m.each(doReceive)
	side := 0
	for !m.halves[0].over() || !m.halves[1].over() {
		if m.halves[side].over() || m.run(side) {
			side = 1 - side
		}
	}
	for s := range m.halves {
		m.join(s)
	}
	m.each(doSend)
	return &m.out
}

type half struct {
	block *block
	pc    int
	open  bool // a collective that blocked is under way
}

func (h *half) over() bool { return h.pc == len(h.block.code) }

type merger struct {
	halves [2]half
	out    block
}

// each moves all instructions of a kind from both halves to the present place.
func (m *merger) each(kind instrKind) {
	for s := range m.halves {
		for pc := range m.halves[s].block.code {
			if m.halves[s].block.code[pc].kind == kind {
				m.copy(s, pc)
			}
		}
	}
}

// copy appends an instruction of a half, with its memory and its slots.
func (m *merger) copy(side, pc int) {
	in := m.halves[side].block.code[pc]
	in.part = uint8(side)
	if in.slot < pairSlots-1 {
		in.slot += uint8(side * pairSlots)
	}
	var ops []memOp
	for _, op := range m.halves[side].block.memory[pc] {
		op.part = uint8(side)
		ops = append(ops, op)
	}
	m.out.code = append(m.out.code, in)
	m.out.memory = append(m.out.memory, ops)
}

// run copies a half's instructions until it enters a blocking collective, and
// reports whether the other half should go on.
func (m *merger) run(side int) bool {
	h := &m.halves[side]
	m.join(side)
	for !h.over() {
		in := &h.block.code[h.pc]
		pc := h.pc
		h.pc++
		switch in.kind {
		case doReceive, doSend:
			continue
		case doCollect:
			m.copy(side, pc)
			last := &m.out.code[len(m.out.code)-1]
			last.kind, last.slot = doAsync, openSlot(side)
			h.open = true
			return true
		}
		m.copy(side, pc)
	}
	return true
}

// join waits for a half's open collective before its next instruction.
func (m *merger) join(side int) {
	h := &m.halves[side]
	if !h.open {
		return
	}
	h.open = false
	m.out.code = append(m.out.code, instr{kind: doJoin, slot: openSlot(side), part: uint8(side)})
	m.out.memory = append(m.out.memory, nil)
}

func openSlot(side int) uint8 { return uint8((side+1)*pairSlots - 1) }
