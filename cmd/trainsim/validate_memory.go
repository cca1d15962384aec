package main

import (
	"context"
	"io"
	"sync"

	"trainsim/scenarios/measured"
	"trainsim/sim/report"
	"trainsim/sim/step"
)

// rankMemory reads a table of single ranks' peak memory: up to two rows of the
// score a line, allocated and reserved.
func (v *validateCommand) rankMemory(r io.Reader, name string) ([]predictor, error) {
	rows, err := measured.ReadRankMemory(r, name, v.cluster)
	if err != nil {
		return nil, err
	}
	accounts := map[*step.Config]func() ([]step.RankMemory, error){nil: nil}
	var out []predictor
	for i := range rows {
		m := &rows[i]
		if _, known := accounts[m.Config]; !known {
			accounts[m.Config] = sync.OnceValues(func() ([]step.RankMemory, error) { return accountOf(m.Config) })
		}
		for _, figure := range []struct {
			metric measured.MemoryMetric
			bytes  int64
		}{{measured.Allocated, m.Allocated}, {measured.Reserved, m.Reserved}} {
			if figure.bytes > 0 || m.Skipped != "" {
				out = append(out, predictRank(m, figure.metric, figure.bytes, accounts[m.Config]))
			}
		}
	}
	return out, nil
}

// predictRank makes the row of one figure of a rank.
func predictRank(m *measured.RankMemory, metric measured.MemoryMetric, bytes int64, account func() ([]step.RankMemory, error)) predictor {
	p := predictor{row: report.Scored{
		ID: m.ID + " " + string(metric), Family: m.Family + " " + string(metric), MemoryMetric: string(metric), Skipped: m.Skipped,
	}}
	if bytes > 0 {
		p.row.MeasuredBytes = &bytes
	}
	if m.Skipped == "" {
		p.predict = func(_ context.Context, s *report.Scored) error {
			ranks, err := account()
			if err == nil {
				s.PredictMemory(&ranks[m.Stage])
			}
			return err
		}
	}
	return p
}

func accountOf(c *step.Config) ([]step.RankMemory, error) {
	job, err := step.Build(c)
	if err != nil {
		return nil, err
	}
	return job.Account()
}
