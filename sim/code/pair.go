package code

// pairSlots is how many slots each half of a pair has for its own
// collectives; the last slot of each half is for those that blocked.
const pairSlots = Slots / 2

// Merge interleaves two blocks as an overlapped pair: while one half waits for
// a collective, the other computes (DualPipe; Megatron-LM's batch-level
// overlap). Both inputs are there before either half begins, both outputs
// leave at the end.
func Merge(a, b *Block) *Block {
	m := &merger{halves: [2]half{{block: a}, {block: b}}}
	m.each(Receive)
	side := 0
	for !m.halves[0].over() || !m.halves[1].over() {
		if m.halves[side].over() || m.run(side) {
			side = 1 - side
		}
	}
	for s := range m.halves {
		m.join(s)
	}
	m.each(Send)
	return &m.out
}

type half struct {
	block *Block
	pc    int
	open  bool // a collective that blocked is under way
}

func (h *half) over() bool { return h.pc == len(h.block.Code) }

type merger struct {
	halves [2]half
	out    Block
}

// each moves all instructions of a kind from both halves to the present place.
func (m *merger) each(kind InstrKind) {
	for s := range m.halves {
		for pc := range m.halves[s].block.Code {
			if m.halves[s].block.Code[pc].Kind == kind {
				m.copy(s, pc)
			}
		}
	}
}

// copy appends an instruction of a half, with its memory and its slots.
func (m *merger) copy(side, pc int) {
	in := m.halves[side].block.Code[pc]
	in.Part = uint8(side)
	if in.Slot < pairSlots-1 {
		in.Slot += uint8(side * pairSlots)
	}
	var ops []MemoryOp
	for _, op := range m.halves[side].block.Memory[pc] {
		op.Part = uint8(side)
		ops = append(ops, op)
	}
	m.out.Code = append(m.out.Code, in)
	m.out.Memory = append(m.out.Memory, ops)
}

// run copies a half's instructions until it enters a blocking collective, and
// reports whether the other half should go on.
func (m *merger) run(side int) bool {
	h := &m.halves[side]
	m.join(side)
	for !h.over() {
		in := &h.block.Code[h.pc]
		pc := h.pc
		h.pc++
		switch in.Kind {
		case Receive, Send:
			continue
		case RunCollective:
			m.copy(side, pc)
			last := &m.out.Code[len(m.out.Code)-1]
			last.Kind, last.Slot = StartCollective, openSlot(side)
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
	m.out.Code = append(m.out.Code, Instr{Kind: WaitSlot, Slot: openSlot(side), Part: uint8(side)})
	m.out.Memory = append(m.out.Memory, nil)
}

func openSlot(side int) uint8 { return uint8((side+1)*pairSlots - 1) }
