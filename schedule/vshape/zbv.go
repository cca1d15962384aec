package vshape

import "trainsim/schedule"

// zbvList builds one rank's list of the hand-written V schedule; it numbers
// each operation's micro-batches itself and leaves those beyond m out.
type zbvList struct {
	list []schedule.Action
	next [4][2]int // next micro-batch of each operation and chunk
	m    int
}

func (z *zbvList) add(op schedule.Op, chunk int) {
	mb := z.next[op][chunk]
	z.next[op][chunk]++
	if mb < z.m {
		z.list = append(z.list, op.At(mb, chunk))
	}
}

func fillZBV(req *schedule.Request, p *schedule.Program) error {
	for r := range p.Lists {
		p.Lists[r] = zbv(req.Ranks, req.Microbatches, r)
	}
	return nil
}

// zbv returns rank r's list of ZB-V. The pattern is laid out for at least
// 2p-1 micro-batches, and what exceeds m is dropped.
func zbv(p, m, r int) []schedule.Action {
	z := &zbvList{m: m, list: make([]schedule.Action, 0, 6*m)}
	n := max(m, 2*p-1)
	z.warmUp(p, r)
	for z.next[schedule.Forward][1] < z.next[schedule.Forward][0] || z.next[schedule.Forward][0] < n {
		if z.next[schedule.Forward][0] < n {
			z.add(schedule.Forward, 0)
		}
		z.add(schedule.BackwardInput, 0)
		z.add(schedule.BackwardWeight, 0)
		z.turn()
	}
	z.coolDown(p, n, r)
	return z.list
}

// turn runs one micro-batch on the upward chunk with its whole backward.
func (z *zbvList) turn() {
	z.add(schedule.Forward, 1)
	z.add(schedule.BackwardInput, 1)
	z.add(schedule.BackwardWeight, 1)
}

func (z *zbvList) warmUp(p, r int) {
	for range 2*(p-r) - 1 {
		z.add(schedule.Forward, 0)
	}
	for range r {
		z.add(schedule.Forward, 1)
		z.add(schedule.Forward, 0)
	}
	for range p - r {
		z.turn()
	}
}

func (z *zbvList) coolDown(p, n, r int) {
	for range r {
		z.add(schedule.BackwardInput, 0)
		z.add(schedule.BackwardInput, 1)
	}
	for range p - r {
		z.add(schedule.BackwardInput, 0)
		z.add(schedule.BackwardWeight, 0)
	}
	for _, chunk := range []int{1, 0} {
		for z.next[schedule.BackwardWeight][chunk] < n {
			z.add(schedule.BackwardWeight, chunk)
		}
	}
}
