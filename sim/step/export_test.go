package step

import (
	"context"

	"trainsim/sim"
	"trainsim/sim/account"
	"trainsim/sim/code"
	"trainsim/sim/job"
	"trainsim/sim/trace"
)

// RecordAll are options under which every rank is recorded.
func RecordAll(all bool) Options { return Options{recordAll: all} }

// Exposed is what one rank of a stage waited for in the steps that count.
type Exposed [trace.NumDimensions]sim.Time

// ExposedOfStages runs a job and sums by stage, over all steps that count, what
// the collectives and hand-offs of its recorded rank were exposed for, and what
// its books say.
func ExposedOfStages(c *job.Config, o Options) (collectives, books []Exposed, err error) {
	j, err := job.Build(context.Background(), c, account.Peaks)
	if err != nil {
		return nil, nil, err
	}
	accounts, err := account.Replay(context.Background(), j, true)
	if err != nil {
		return nil, nil, err
	}
	m, err := prepare(j, o, accounts, c.Faults.Any())
	if err != nil {
		return nil, nil, err
	}
	if err := m.run(context.Background()); err != nil {
		return nil, nil, err
	}
	collectives, books = make([]Exposed, len(j.Stages)), make([]Exposed, len(j.Stages))
	for i := range m.record.recorded {
		rd := &m.record.recorded[i]
		if int(rd.rank)%m.folding.pipelines != 0 {
			continue
		}
		to := &collectives[rd.stage]
		to[trace.PP] += rd.p2p.exposed
		for id := range rd.comms {
			to[code.Dimensions[j.Compiler.Comms[id].Group]] += rd.comms[id].exposed
		}
	}
	for _, o := range m.counted() {
		for s := range o.stages {
			for d, t := range o.stages[s].Comm {
				books[s][d] += t
			}
		}
	}
	return collectives, books, nil
}
