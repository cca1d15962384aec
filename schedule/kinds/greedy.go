package kinds

import "trainsim/schedule"

// greedyKinds are the zero-bubble schedules whose order follows from the costs.
func greedyKinds() []schedule.Kind {
	return []schedule.Kind{
		{
			Name: "zb-auto", Aliases: []string{"zero-bubble", "zb"},
			Summary: "greedy zero-bubble order for given costs under a cap on live activations: p for the " +
				"paper's ZB-1p, 2p (default) for its ZB-2p",
			Constraint: "any p, m; cap at least 1; one chunk a rank", FixedChunks: true, Chunks: 1,
			ByCosts: true, Check: checkZBAuto, Fill: fillZBAuto,
		},
	}
}

func checkZBAuto(req *schedule.Request) error {
	if req.MemoryCap == 0 {
		req.MemoryCap = 2 * req.Ranks
	}
	return req.Costs.Validate(req.Ranks)
}

func fillZBAuto(req *schedule.Request, p *schedule.Program) error {
	var best *greedy
	for setting := range 8 {
		s := newGreedy(req, setting)
		if err := s.run(); err != nil {
			return err
		}
		if best == nil || s.objective() < best.objective() {
			best = s
		}
	}
	for r := range p.Lists {
		p.Lists[r] = best.ranks[r].list
	}
	return nil
}

// greedy is one run of the greedy. All ranks advance together, a forward
// and an input gradient a round; weight gradients fill the gaps.
type greedy struct {
	req     *schedule.Request
	m       int
	limit   float64 // most live activations a rank
	kept    float64 // share of an activation that is kept between I and W
	latency float64
	ranks   []greedyRank

	allowBubble   bool // before the first input gradient, let forwards delay it
	preferInput   bool // let a forward wait for the input gradient
	fillSmallGaps bool // put a weight gradient into gaps that it does not fit
}

type greedyRank struct {
	cost                 schedule.StageCost
	forwards, inputs     int // actions done; micro-batches follow in order
	weights              int
	clock                float64
	bubble               float64 // idle time since the first forward
	firstForward         float64 // its end
	list                 []schedule.Action
	endForward, endInput []float64 // by micro-batch
}

// newGreedy decodes a setting: the three switches, all on in setting 0.
func newGreedy(req *schedule.Request, setting int) *greedy {
	s := &greedy{
		req: req, m: req.Microbatches, limit: float64(req.MemoryCap), kept: req.WeightShare,
		latency: req.Costs.Latency, ranks: make([]greedyRank, req.Ranks),
		allowBubble: setting&4 == 0, preferInput: setting&2 == 0, fillSmallGaps: setting&1 == 0,
	}
	for r := range s.ranks {
		s.ranks[r] = greedyRank{
			cost: req.Costs.Stage(r), list: make([]schedule.Action, 0, 3*s.m),
			endForward: make([]float64, 0, s.m), endInput: make([]float64, 0, s.m),
		}
	}
	return s
}

// live returns the activations that a rank keeps: whole until I, their share
// until W.
func (s *greedy) live(r *greedyRank) float64 {
	return float64(r.forwards-r.inputs) + float64(s.kept*float64(r.pending()))
}

// pending returns the weight gradients that could run now.
func (r *greedyRank) pending() int { return r.inputs - r.weights }

// put appends an action that may start when its input has arrived.
func (r *greedyRank) put(op schedule.Op, arrival float64) {
	start := max(r.clock, arrival)
	if r.forwards > 0 {
		r.bubble += start - r.clock
	}
	r.clock = start + r.cost.Of(op)
	switch op {
	case schedule.Forward:
		r.list = append(r.list, op.At(r.forwards, 0))
		if r.forwards == 0 {
			r.firstForward = r.clock
		}
		r.forwards++
		r.endForward = append(r.endForward, r.clock)
	case schedule.BackwardInput:
		r.list = append(r.list, op.At(r.inputs, 0))
		r.inputs++
		r.endInput = append(r.endInput, r.clock)
	default:
		r.list = append(r.list, op.At(r.weights, 0))
		r.weights++
	}
}

// putForward appends rank j's next forward.
func (s *greedy) putForward(j int) {
	r := &s.ranks[j]
	arrival := 0.0
	if j > 0 {
		arrival = s.ranks[j-1].endForward[r.forwards] + s.latency
	}
	r.put(schedule.Forward, arrival)
}

// inputArrival returns when the gradient for rank j's next I arrives.
func (s *greedy) inputArrival(j int) float64 {
	if j == len(s.ranks)-1 {
		return 0
	}
	return s.ranks[j+1].endInput[s.ranks[j].inputs] + s.latency
}

func (s *greedy) maxBubble() float64 {
	most := 0.0
	for j := range s.ranks {
		most = max(most, s.ranks[j].bubble)
	}
	return most
}

// run builds the lists of all ranks.
func (s *greedy) run() error {
	s.warmUp()
	for k := 1; k < s.m; k++ {
		if err := s.req.Err(); err != nil {
			return err
		}
		s.forwardRound()
		s.inputRound()
	}
	for j := range s.ranks {
		s.flush(j)
	}
	return nil
}

// objective is the longest rank's span, from the start of its first forward.
func (s *greedy) objective() float64 {
	longest := 0.0
	for j := range s.ranks {
		r := &s.ranks[j]
		longest = max(longest, r.clock-r.firstForward+r.cost.Forward)
	}
	return longest
}

func (s *greedy) flush(j int) {
	for s.ranks[j].pending() > 0 {
		s.ranks[j].put(schedule.BackwardWeight, 0)
	}
}
