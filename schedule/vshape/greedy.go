package vshape

import (
	"fmt"
	"math"

	"trainsim/schedule"
)

func checkZBVAuto(req *schedule.Request) error {
	if err := req.Costs.Validate(2 * req.Ranks); err != nil {
		return err
	}
	if req.MemoryCap == 0 {
		req.MemoryCap = 2 * req.Ranks
	}
	if req.MemoryCap < 2*req.Ranks {
		rule := fmt.Sprintf("at least %d, the chunks that are in flight before the first gradient is back",
			2*req.Ranks)
		return req.Refuse("memory cap", req.MemoryCap, rule, func(x int) bool { return x >= 2*req.Ranks })
	}
	return nil
}

// fillZBVAuto runs the greedy V schedule: four settings, each tried again
// with what it has learnt about the bubbles, and the best kept.
func fillZBVAuto(req *schedule.Request, p *schedule.Program) error {
	var best *greedy
	for setting := range 4 {
		s, err := attempt(req, setting)
		if err != nil {
			return err
		}
		if best == nil || s.maxBubble() < best.maxBubble() {
			best = s
		}
	}
	for r := range p.Lists {
		p.Lists[r] = best.ranks[r].list
	}
	return nil
}

// attempt runs one setting and repeats it with the bubbles of the ranks as
// approved, as long as that makes the largest bubble smaller.
func attempt(req *schedule.Request, setting int) (*greedy, error) {
	best := newGreedy(req, setting, nil)
	err := best.run()
	for err == nil {
		s := newGreedy(req, setting, best.bubbles())
		if err = s.run(); err == nil && s.maxBubble() >= best.maxBubble() {
			return best, nil
		}
		best = s
	}
	return nil, err
}

// greedy is one run. All ranks advance together: an input
// gradient and a forward a round; weight gradients fill the gaps.
type greedy struct {
	req          *schedule.Request
	m, limit     int
	latency      float64
	ranks        []greedyRank
	approved     []float64 // bubble of each rank that the run before had; nil at first
	mostApproved float64

	fillForward, fillBackward bool // put a weight gradient into a gap that it does not fit
}

type greedyRank struct {
	cost    [2]schedule.StageCost // by chunk
	count   [passes]int
	ended   [passes][]float64
	clock   float64
	bubble  float64 // idle time since the first forward
	live    int
	weights [2]int  // weight gradients done, by chunk
	pending []int16 // chunks whose weight gradients are due, oldest first
	list    []schedule.Action
}

func newGreedy(req *schedule.Request, setting int, approved []float64) *greedy {
	s := &greedy{req: req, m: req.Microbatches, limit: req.MemoryCap, latency: req.Costs.Latency, approved: approved,
		ranks: make([]greedyRank, req.Ranks), fillBackward: setting&2 == 0, fillForward: setting&1 == 0}
	for _, b := range approved {
		s.mostApproved = max(s.mostApproved, b)
	}
	for r := range s.ranks {
		s.ranks[r].cost = [2]schedule.StageCost{req.Costs.Stage(r), req.Costs.Stage(2*req.Ranks - 1 - r)}
		s.ranks[r].list = make([]schedule.Action, 0, 6*s.m)
		for pass := range s.ranks[r].ended {
			s.ranks[r].ended[pass] = make([]float64, 0, s.m)
		}
	}
	return s
}

func (s *greedy) bubbles() []float64 {
	out := make([]float64, len(s.ranks))
	for r := range s.ranks {
		out[r] = s.ranks[r].bubble
	}
	return out
}

func (s *greedy) maxBubble() float64 {
	most := 0.0
	for r := range s.ranks {
		most = max(most, s.ranks[r].bubble)
	}
	return most
}

// allowance is how much more bubble a rank may have without being the worst:
// the largest so far, and what it had less than the worst in the run before.
func (s *greedy) allowance(r int) float64 {
	most := s.maxBubble()
	if s.approved != nil {
		most = max(most, s.mostApproved-s.approved[r])
	}
	return most - s.ranks[r].bubble
}

// remote returns when a pass's input arrives from another rank; known is false
// while that rank has not run it, and for inputs of the rank itself.
func (s *greedy) remote(r, pass int) (arrival float64, known bool) {
	from := passFrom(pass, r)
	if from < 0 || from >= len(s.ranks) {
		return math.Inf(-1), false
	}
	ended, mb := s.ranks[from].ended[pass], s.ranks[r].count[pass]
	if mb >= len(ended) {
		return math.Inf(-1), false
	}
	return ended[mb] + s.latency, true
}

// available reports whether the input of a rank's next micro-batch of a pass
// exists, wherever it comes from.
func (s *greedy) available(r, pass int) bool {
	rank := &s.ranks[r]
	if rank.count[pass] >= s.m || pass > 0 && rank.count[pass-1] <= rank.count[pass] {
		return false
	}
	from := passFrom(pass, r)
	if from < 0 || from >= len(s.ranks) {
		return true
	}
	return len(s.ranks[from].ended[pass]) > rank.count[pass]
}

// put runs the next micro-batch of a pass.
func (s *greedy) put(r, pass int) {
	rank := &s.ranks[r]
	a := passAction(pass, rank.count[pass])
	start := rank.clock
	if arrival, known := s.remote(r, pass); known {
		start = max(start, arrival)
	}
	if rank.count[passDown] > 0 {
		rank.bubble += start - rank.clock
	}
	rank.clock = start + rank.cost[a.Chunk].Of(a.Op)
	rank.ended[pass] = append(rank.ended[pass], rank.clock)
	rank.count[pass]++
	rank.list = append(rank.list, a)
	if a.Op == schedule.Forward {
		rank.live++
	} else {
		rank.pending = append(rank.pending, a.Chunk)
	}
}

// putWeight runs the oldest weight gradient that is due.
func (r *greedyRank) putWeight() {
	chunk := r.pending[0]
	r.pending = r.pending[1:]
	r.list = append(r.list, schedule.BackwardWeight.At(r.weights[chunk], int(chunk)))
	r.weights[chunk]++
	r.clock += r.cost[chunk].BackwardWeight
	r.live--
}

// nextWeight returns the cost of the weight gradient that is due next.
func (r *greedyRank) nextWeight() float64 { return r.cost[r.pending[0]].BackwardWeight }

// prepare fills the time before a pass's input arrives with weight gradients,
// and with one more than fits if the gap is worth it (force) and too large.
func (s *greedy) prepare(r, pass int, force bool) {
	rank := &s.ranks[r]
	arrival, known := s.remote(r, pass)
	if !known {
		return
	}
	for len(rank.pending) > 0 && arrival >= rank.clock+rank.nextWeight() {
		rank.putWeight()
	}
	if force && len(rank.pending) > 0 && arrival-rank.clock > s.allowance(r) {
		rank.putWeight()
	}
}
