package draw

import "trainsim/schedule"

// Span is an action of a rank in time, in the unit of the costs.
type Span struct {
	Rank       int
	Action     schedule.Action
	Start, End float64
}

// Spans lists all actions of a program by rank. The halves of an overlapped
// pair, which run at the same time, share it in proportion to their costs.
func Spans(p *schedule.Program, r *schedule.Result, costs schedule.Costs) []Span {
	var out []Span
	for rank, list := range p.Lists {
		for i, action := range list {
			start, end := r.Start[rank][i], r.End[rank][i]
			switch {
			case action.Pair:
				end = start + (end-start)*firstShare(p, costs, rank, action, list[i+1])
			case i > 0 && list[i-1].Pair:
				start += (end - start) * firstShare(p, costs, rank, list[i-1], action)
			}
			out = append(out, Span{rank, action, start, end})
		}
	}
	return out
}

// firstShare is the first half's share of a pair's cost.
func firstShare(p *schedule.Program, costs schedule.Costs, rank int, first, second schedule.Action) float64 {
	cost := func(a schedule.Action) float64 { return costs.Stage(p.Stage(rank, int(a.Chunk))).Of(a.Op) }
	if sum := cost(first) + cost(second); sum > 0 {
		return cost(first) / sum
	}
	return 0.5
}
