package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"trainsim/scenarios"
	"trainsim/sim/account"
	"trainsim/sim/bound"
	"trainsim/sim/job"
	"trainsim/sim/report"
	"trainsim/sim/step"
)

// planner searches a space of layouts by branch and bound: the layouts go by a
// lower bound of their step time, and those that cannot be among the results
// any more are left out. Its results are those of simulating every layout.
type planner struct {
	base    *job.Config
	layouts []scenarios.Layout
	limit   int64 // of the fullest GPU's memory, in bytes
	search  *report.PlanSearch
	options step.Options
	jobs    int
	known   func(point int, id string) (report.SweepRow, bool) // a result from before
	keep    func(*report.SweepRow) error                       // takes a new result

	order  []candidate
	counts planCounts
}

// candidate is a layout with its bounds.
type candidate struct {
	point int
	gpus  int
	bound bound.Bound
}

// planCounts says what became of the layouts.
type planCounts struct{ layouts, tooLarge, tooSlow, impossible, outOfMemory, simulated int }

// planRound is how many layouts are looked at between two looks at the results
// so far. It does not depend on the number of workers, so that which layouts
// are simulated does not either.
const planRound = 32

// bound orders the layouts of a shard by the bound of their step time. Those
// that cannot fit are left out.
func (p *planner) bound(ctx context.Context, part shard) error {
	bounder, err := bound.NewBounder(p.base)
	if err != nil {
		return err
	}
	for i := part.index; i < len(p.layouts); i += part.of {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.counts.layouts++
		cfg := p.layouts[i].Apply(p.base)
		b, err := bounder.Bound(cfg)
		if err != nil {
			return badInput(err)
		}
		if b.Memory > p.limit {
			p.counts.tooLarge++
			continue
		}
		p.order = append(p.order, candidate{i, cfg.Parallel.World(), b})
	}
	slices.SortStableFunc(p.order, func(a, b candidate) int { return cmp.Compare(a.bound.Time, b.bound.Time) })
	return nil
}

// run searches; done hears of every layout that is dealt with.
func (p *planner) run(ctx context.Context, done func(int)) error {
	for next := 0; next < len(p.order); {
		var round []candidate
		from := next
		for ; next < len(p.order) && len(round) < planRound; next++ {
			if c := p.order[next]; p.search.Needless(c.gpus, c.bound) {
				p.counts.tooSlow++
			} else {
				round = append(round, c)
			}
		}
		rows := make([]*report.SweepRow, len(round))
		err := inParallel(ctx, p.jobs, len(round), func(i int) (err error) {
			rows[i], err = p.evaluate(ctx, round[i])
			return err
		})
		if err != nil {
			return err
		}
		for _, row := range rows {
			p.take(row)
		}
		done(next - from)
	}
	return nil
}

// take counts a result and lets it bound what comes.
func (p *planner) take(row *report.SweepRow) {
	switch {
	case row == nil:
		p.counts.tooSlow++
	case row.Outcome == report.OutcomeOOM:
		p.counts.outOfMemory++
	case row.Runs():
		p.counts.simulated++
		p.search.Add(*row)
	default:
		p.counts.impossible++
	}
}

// evaluate simulates a layout unless a closer bound, or the memory account,
// says that it is no result. A nil row is a layout that is needless.
func (p *planner) evaluate(ctx context.Context, c candidate) (*report.SweepRow, error) {
	layout := &p.layouts[c.point]
	cfg := layout.Apply(p.base)
	row := &report.SweepRow{Point: c.point, ID: scenarios.Identity(cfg, version)}
	for i, v := range layout.Values() {
		row.Settings = append(row.Settings, report.Setting{Key: scenarios.PlanKeys()[i], Value: v})
	}
	if known, ok := p.known(c.point, row.ID); ok {
		return &known, nil
	}
	j, err := job.Build(cfg, account.Peaks)
	if err != nil {
		row.Outcome, row.Reason = report.OutcomeInvalid, scenarios.Reason(err)
		return row, nil
	}
	if c.bound, err = bound.Of(j); err != nil {
		return nil, fmt.Errorf("%s: %w", report.LayoutLabel(row.Settings), err)
	}
	if p.search.Needless(c.gpus, c.bound) {
		return nil, nil
	}
	if c.bound.Memory > p.limit {
		row.Outcome, row.Reason = report.OutcomeOOM, fmt.Sprintf("at least %.1f GiB of %.1f GiB are needed", gib(c.bound.Memory), gib(p.limit))
		return row, p.keep(row)
	}
	needless, err := p.simulate(ctx, j, c, row)
	if err != nil || needless {
		return nil, err
	}
	return row, p.keep(row)
}

// simulate fills the row of a layout that has passed the bounds. The first
// stage's memory comes first, since it tells most of what does not fit; then the
// step, which often turns out to be too long; then the other stages' memory.
func (p *planner) simulate(ctx context.Context, j *job.Job, c candidate, row *report.SweepRow) (needless bool, err error) {
	memory := make([]account.RankMemory, 0, j.Config.Parallel.PP)
	if fits, err := p.measure(j, &memory, row); err != nil || !fits {
		return false, err
	}
	c.bound.Memory = max(c.bound.Memory, memory[0].NvidiaSMI())
	if p.search.Needless(c.gpus, c.bound) {
		return true, nil
	}
	res, err := step.Timed(ctx, j, p.options)
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err != nil:
		row.Fail(err)
		return false, nil
	}
	c.bound.Time = res.StepTime
	if p.search.Needless(c.gpus, c.bound) {
		return true, nil
	}
	for len(memory) < j.Config.Parallel.PP {
		if fits, err := p.measure(j, &memory, row); err != nil || !fits {
			return false, err
		}
	}
	res.Memory = memory
	row.Fill(res)
	return false, nil
}

// measure accounts for the memory of one more stage. One that does not fit is
// the layout's outcome.
func (p *planner) measure(j *job.Job, memory *[]account.RankMemory, row *report.SweepRow) (fits bool, err error) {
	m, err := account.Stage(j, len(*memory))
	if err != nil {
		return false, err
	}
	*memory = append(*memory, m)
	switch {
	case m.OOM != nil:
		row.Outcome, row.Reason = report.OutcomeOOM, fmt.Sprintf("stage %d runs out of memory in %s", m.Stage, m.OOM.Action)
		return false, nil
	case m.NvidiaSMI() > p.limit:
		row.Outcome, row.Reason = report.OutcomeOOM, fmt.Sprintf("stage %d needs %.1f GiB of the %.1f GiB allowed", m.Stage, gib(m.NvidiaSMI()), gib(p.limit))
		return false, nil
	}
	return true, nil
}
