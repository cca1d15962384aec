package search

import (
	"context"
	"fmt"

	"trainsim/sim/account"
	"trainsim/sim/bound"
	"trainsim/sim/job"
	"trainsim/sim/report"
	"trainsim/sim/step"
)

// evaluate simulates a layout unless a closer bound, or the memory account,
// says that it is no result. A nil row is a layout that is needless.
func (p *planning) evaluate(ctx context.Context, c candidate) (*report.SweepRow, error) {
	layout := &p.Layouts[c.point]
	cfg := layout.Apply(p.Space.Base)
	row := &report.SweepRow{Point: c.point, ID: Identity(cfg), Settings: layout.settings()}
	if p.store.Has(c.point, row.ID) {
		known, err := p.store.Row(c.point)
		return &known, err
	}
	needless := false
	err := guarded(func() (err error) {
		needless, err = p.bounded(ctx, cfg, c, row)
		return err
	})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		row.Fail(err)
	case needless:
		return nil, nil
	}
	return row, p.store.Add(row)
}

// bounded fills the row of a layout unless the closer bounds of its job do.
func (p *planning) bounded(ctx context.Context, cfg *job.Config, c candidate,
	row *report.SweepRow) (needless bool, err error) {
	j, err := job.Build(ctx, cfg, account.Peaks)
	if err != nil {
		row.Outcome, row.Reason = report.OutcomeInvalid, reason(err)
		return false, nil
	}
	if c.bound, err = bound.Of(ctx, j); err != nil {
		return false, err
	}
	if p.ranking.Needless(c.gpus, c.bound) {
		return true, nil
	}
	if c.bound.Memory > p.Limit {
		row.Outcome, row.Reason = report.OutcomeOOM, fmt.Sprintf("at least %.1f GiB of %.1f GiB are needed",
			gib(c.bound.Memory), gib(p.Limit))
		return false, nil
	}
	return p.simulate(ctx, j, c, row)
}

// simulate fills the row of a layout that has passed the bounds. The first
// stage's memory comes first, since it tells most of what does not fit; then the
// step, which often turns out to be too long; then the other stages' memory.
func (p *planning) simulate(ctx context.Context, j *job.Job, c candidate,
	row *report.SweepRow) (needless bool, err error) {
	memory := make([]account.RankMemory, 0, j.Config.Parallel.PP)
	if fits, err := p.measure(ctx, j, &memory, row); err != nil || !fits {
		return false, err
	}
	c.bound.Memory = max(c.bound.Memory, memory[0].NvidiaSMI())
	if p.ranking.Needless(c.gpus, c.bound) {
		return true, nil
	}
	res, err := step.Timed(ctx, j, p.options.simulation())
	if err != nil {
		return false, err
	}
	c.bound.Time = res.StepTime
	if p.ranking.Needless(c.gpus, c.bound) {
		return true, nil
	}
	for len(memory) < j.Config.Parallel.PP {
		if fits, err := p.measure(ctx, j, &memory, row); err != nil || !fits {
			return false, err
		}
	}
	res.Memory = memory
	row.Fill(res)
	return false, nil
}

// measure accounts for the memory of one more stage. One that does not fit is
// the layout's outcome.
func (p *planning) measure(ctx context.Context, j *job.Job, memory *[]account.RankMemory,
	row *report.SweepRow) (fits bool, err error) {
	m, err := account.Stage(ctx, j, len(*memory))
	if err != nil {
		return false, err
	}
	*memory = append(*memory, m)
	switch {
	case m.OOM != nil:
		row.Outcome, row.Reason = report.OutcomeOOM, fmt.Sprintf("stage %d runs out of memory in %s", m.Stage,
			m.OOM.Action)
		return false, nil
	case m.NvidiaSMI() > p.Limit:
		row.Outcome, row.Reason = report.OutcomeOOM, fmt.Sprintf("stage %d needs %.1f GiB of the %.1f GiB allowed",
			m.Stage, gib(m.NvidiaSMI()), gib(p.Limit))
		return false, nil
	}
	return true, nil
}

func gib(bytes int64) float64 { return float64(bytes) / (1 << 30) }
