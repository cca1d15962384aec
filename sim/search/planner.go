package search

import (
	"cmp"
	"context"
	"slices"

	"trainsim/sim/bound"
	"trainsim/sim/input"
	"trainsim/sim/report"
)

// Planner searches a space of layouts by branch and bound: the layouts go by a
// lower bound of their step time, and those that cannot be among the results
// any more are left out. Its results are those of simulating every layout.
type Planner struct {
	Space   *Space
	Layouts []Layout // of the space; a layout's point is its index
	Limit   int64    // of the fullest GPU's memory, in bytes
	Top     int      // how many of the fastest layouts of each number of GPUs to keep
	Refused []Refusal
}

// NewPlanner is a search of the whole space for the ten fastest layouts that fit
// into the GPUs.
func NewPlanner(s *Space) *Planner {
	layouts, refused := s.enumerate()
	return &Planner{Space: s, Layouts: layouts, Refused: refused, Limit: int64(s.Base.GPU.Memory), Top: 10}
}

// PlanCounts says what became of the layouts.
type PlanCounts struct{ Layouts, TooLarge, TooSlow, Impossible, OutOfMemory, Failed, Simulated int }

// Plan searches the layouts of the shard. Results that the store has count as
// simulated; new ones go into it.
func (p *Planner) Plan(ctx context.Context, s Store, o Options) (*report.Plan, *PlanCounts, error) {
	w := &planning{Planner: p, store: s, options: o, ranking: NewRanking(p.Top)}
	if err := w.bound(ctx); err != nil {
		return nil, nil, err
	}
	if err := w.run(ctx); err != nil {
		return nil, nil, err
	}
	return report.NewPlan(p.Space.Base.Name, p.Space.Batch, PlanKeys(), w.ranking.Groups()), &w.counts, nil
}

// planning is a search on its way.
type planning struct {
	*Planner
	store   Store
	options Options
	ranking *Ranking
	order   []candidate
	counts  PlanCounts
}

// candidate is a layout with its bounds.
type candidate struct {
	point int
	gpus  int
	bound bound.Bound
}

// planRound is how many layouts are looked at between two looks at the results
// so far. It does not depend on the number of workers, so that which layouts
// are simulated does not either.
const planRound = 32

// bound orders the layouts of the shard by the bound of their step time. Those
// that cannot fit are left out.
func (p *planning) bound(ctx context.Context) error {
	base := p.Space.Base
	bounder := bound.NewBounder(base)
	for i := range p.options.Shard.Count(len(p.Layouts)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.counts.Layouts++
		point := p.options.Shard.Point(i)
		cfg := p.Layouts[point].Apply(base)
		b, err := bounder.Bound(cfg)
		if err != nil {
			return &input.Invalid{Err: err}
		}
		if b.Memory > p.Limit {
			p.counts.TooLarge++
			continue
		}
		p.order = append(p.order, candidate{point, cfg.Parallel.World(), b})
	}
	slices.SortStableFunc(p.order, func(a, b candidate) int { return cmp.Compare(a.bound.Time, b.bound.Time) })
	return nil
}

// run goes through the layouts, a round at a time.
func (p *planning) run(ctx context.Context) error {
	bar := progress{total: len(p.order), hear: p.options.Progress}
	for next := 0; next < len(p.order); {
		var round []candidate
		from := next
		for ; next < len(p.order) && len(round) < planRound; next++ {
			if c := p.order[next]; p.ranking.Needless(c.gpus, c.bound) {
				p.counts.TooSlow++
			} else {
				round = append(round, c)
			}
		}
		rows := make([]*report.SweepRow, len(round))
		err := InParallel(ctx, p.options.Jobs, len(round), func(i int) (err error) {
			rows[i], err = p.evaluate(ctx, round[i])
			return err
		})
		if err != nil {
			return err
		}
		for _, row := range rows {
			p.take(row)
		}
		bar.add(next - from)
	}
	return nil
}

// take counts a result and lets it bound what comes.
func (p *planning) take(row *report.SweepRow) {
	switch {
	case row == nil:
		p.counts.TooSlow++
	case row.Outcome == report.OutcomeFailed:
		p.counts.Failed++
	case row.Outcome == report.OutcomeOOM:
		p.counts.OutOfMemory++
	case row.Runs():
		p.counts.Simulated++
		p.ranking.Add(*row)
	default:
		p.counts.Impossible++
	}
}
