package schedule

import (
	"fmt"
	"strings"
)

// checkOrder replays the lists without times and reports ranks that wait for
// each other for ever. done starts all zero.
func (p *Program) checkOrder(w *wiring, done []uint8) error {
	position := make([]int, p.Ranks)
	work := newWorkList(p.Ranks)
	for rank, ok := work.pop(); ok; rank, ok = work.pop() {
		list := p.Lists[rank]
		i := position[rank]
		for i < len(list) {
			n := unit(list, i)
			if !ready(w, done, rank, list[i:i+n]) {
				break
			}
			for _, a := range list[i : i+n] {
				slot := w.slot(rank, a)
				done[w.base[slot]+int(a.Microbatch)] |= marks(a.Op)
				if to := w.output(slot, a); to >= 0 && int(to) != rank {
					work.push(to)
				}
			}
			i += n
		}
		position[rank] = i
	}
	return p.stuck(w, done, position)
}

// ready reports whether all inputs of the actions, which run together, exist.
func ready(w *wiring, done []uint8, rank int, actions []Action) bool {
	for _, a := range actions {
		cell, _, waits := w.input(w.slot(rank, a), a)
		if waits && done[cell]&inputMark(a.Op) == 0 {
			return false
		}
	}
	return true
}

// inputMark is the mark that an operation's input from another stage leaves.
func inputMark(op Op) uint8 {
	if op == Forward {
		return doneForward
	}
	return doneInput
}

// stuck returns nil if every rank reached the end of its list, else the circle
// of waiting ranks, starting with its lowest rank.
func (p *Program) stuck(w *wiring, done []uint8, position []int) error {
	for r := range position {
		if position[r] < len(p.Lists[r]) {
			return p.describeCircle(w, done, position, r)
		}
	}
	return nil
}

// describeCircle follows who waits for whom from a stuck rank. As every list
// is complete, the awaited action stands later in another stuck rank's list,
// so the walk ends in a circle (of one rank, where it waits for itself).
func (p *Program) describeCircle(w *wiring, done []uint8, position []int, from int) error {
	seen := make([]bool, p.Ranks)
	for !seen[from] {
		seen[from] = true
		_, from = p.waitsFor(w, done, position, from)
	}
	first := from
	for _, r := p.waitsFor(w, done, position, from); r != from; _, r = p.waitsFor(w, done, position, r) {
		first = min(first, r)
	}
	var parts []string
	rank := first
	for {
		a, next := p.waitsFor(w, done, position, rank)
		at := p.token(rank, p.Lists[rank][position[rank]])
		parts = append(parts, fmt.Sprintf("rank %d at %s waits for %s of rank %d", rank, at, a, next))
		if rank = next; rank == first {
			break
		}
	}
	i := position[first]
	return &CheckError{Rank: first, Index: i, Token: p.token(first, p.Lists[first][i]), Deadlock: true,
		Reason: "deadlock: " + strings.Join(parts, "; ")}
}

// waitsFor returns the action that a stuck rank waits for and the rank that
// has yet to run it.
func (p *Program) waitsFor(w *wiring, done []uint8, position []int, rank int) (token string, owner int) {
	list, i := p.Lists[rank], position[rank]
	for _, a := range list[i : i+unit(list, i)] {
		cell, from, waits := w.input(w.slot(rank, a), a)
		if !waits || done[cell]&inputMark(a.Op) != 0 {
			continue
		}
		_, chunk := p.neighbour(rank, a)
		a.Chunk = int16(chunk)
		return p.token(int(from), p.asWritten(int(from), a)), int(from)
	}
	return "", rank
}

// neighbour returns the rank and chunk that an action's input comes from.
func (p *Program) neighbour(rank int, a Action) (int, int) {
	if a.Op == Forward {
		r, c, _ := p.Prev(rank, int(a.Chunk))
		return r, c
	}
	r, c, _ := p.Next(rank, int(a.Chunk))
	return r, c
}

// asWritten gives a backward the operation, B or I, that the rank's own list
// has for it.
func (p *Program) asWritten(rank int, a Action) Action {
	for _, b := range p.Lists[rank] {
		if b.Chunk == a.Chunk && b.Microbatch == a.Microbatch && b.Op.releasesInput() == a.Op.releasesInput() &&
			b.Op != BackwardWeight {
			a.Op = b.Op
			break
		}
	}
	return a
}
