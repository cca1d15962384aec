package kinds

import (
	"math"

	"trainsim/schedule"
)

// warmUp runs the first forward through all ranks, as many further forwards as
// fit before the first input gradient is back, and that gradient.
func (s *greedy) warmUp() {
	for j := range s.ranks {
		s.putForward(j)
	}
	extra := s.extraForwards()
	for j := range s.ranks {
		for range extra[j] {
			s.putForward(j)
		}
	}
	for j := len(s.ranks) - 1; j >= 0; j-- {
		s.ranks[j].put(schedule.BackwardInput, s.inputArrival(j))
	}
}

// extraForwards returns how many forwards beyond the first fit on each rank.
func (s *greedy) extraForwards() []int {
	p := len(s.ranks)
	extra := make([]int, p)
	last := s.ranks[p-1].clock + s.ranks[p-1].cost.BackwardInput
	for j := p - 2; j >= 0; j-- {
		r := &s.ranks[j]
		clock, arrival := r.clock, last+s.latency
		for 1+extra[j] < s.m && float64(2+extra[j]) <= s.limit {
			if s.stopsWarmUp(clock, r.cost.Forward, arrival) {
				break
			}
			extra[j]++
			clock += r.cost.Forward
		}
		last = max(clock, arrival) + r.cost.BackwardInput
	}
	for j := 1; j < p; j++ {
		for extra[j] > 0 && extra[j] >= extra[j-1] && 1+extra[j] < s.m {
			extra[j]--
		}
		extra[j] = min(extra[j], extra[j-1]) // a forward follows that of the rank before
	}
	return extra
}

// stopsWarmUp reports whether another forward would come too late: past the
// arrival of the first gradient, or with bubbles allowed up to it, after it.
func (s *greedy) stopsWarmUp(clock, forward, arrival float64) bool {
	if s.allowBubble {
		return clock+forward > arrival
	}
	return clock >= arrival
}

// forwardRound gives a forward to each rank that wants one; a rank only gets
// one if all ranks after it do.
func (s *greedy) forwardRound() {
	p := len(s.ranks)
	want := make([]bool, p)
	for j := p - 1; j >= 0; j-- {
		want[j] = s.wantsForward(j) && (j == p-1 || want[j+1])
	}
	for j := range s.ranks {
		if !want[j] {
			continue
		}
		arrival := 0.0
		if j > 0 {
			arrival = s.ranks[j-1].endForward[s.ranks[j].forwards] + s.latency
		}
		s.prepare(j, 1, arrival, j > 0)
		s.putForward(j)
	}
}

// wantsForward decides whether rank j is to run a forward in this round or to
// leave its time to the input gradient that is on its way.
func (s *greedy) wantsForward(j int) bool {
	r := &s.ranks[j]
	if r.forwards == s.m {
		return false
	}
	if !s.preferInput || j == len(s.ranks)-1 || r.forwards < s.ranks[j+1].forwards+2 {
		return true
	}
	next := &s.ranks[j+1]
	limit := next.clock + next.cost.Forward + next.cost.BackwardInput + s.latency
	if r.clock >= limit {
		return false
	}
	if r.clock+r.cost.Forward+float64(s.weightsFirst(r)*r.cost.BackwardWeight) <= limit {
		return true
	}
	return limit-r.clock > s.maxBubble()-r.bubble
}

// weightsFirst returns how many weight gradients have to run before memory
// allows another forward.
func (s *greedy) weightsFirst(r *greedyRank) float64 {
	over := s.live(r) + 1 - s.limit
	if over <= 0 || s.kept == 0 {
		return 0
	}
	return math.Ceil(over / s.kept)
}

// inputRound gives each rank its next input gradient, last rank first.
func (s *greedy) inputRound() {
	for j := len(s.ranks) - 1; j >= 0; j-- {
		arrival := s.inputArrival(j)
		s.prepare(j, s.kept-1, arrival, j < len(s.ranks)-1)
		if j == 0 && s.ranks[0].forwards == s.m {
			s.flush(0)
		}
		s.ranks[j].put(schedule.BackwardInput, arrival)
	}
}

// prepare runs weight gradients before an action that adds delta activations:
// those that memory demands, those that fit before a remote input arrives, and
// one more where the gap is worth it.
func (s *greedy) prepare(j int, delta, arrival float64, remote bool) {
	r := &s.ranks[j]
	for s.live(r)+delta > s.limit && r.pending() > 0 {
		r.put(schedule.BackwardWeight, 0)
	}
	if !remote {
		return
	}
	for r.pending() > 0 && r.clock+r.cost.BackwardWeight <= arrival {
		r.put(schedule.BackwardWeight, 0)
	}
	if r.pending() == 0 || r.clock >= arrival {
		return
	}
	if s.fillSmallGaps || arrival-r.clock > s.maxBubble()-r.bubble {
		r.put(schedule.BackwardWeight, 0)
	}
}
