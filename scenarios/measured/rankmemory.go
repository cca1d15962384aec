package measured

import (
	"context"
	"path/filepath"
	"sync"

	"trainsim/sim/account"
	"trainsim/sim/job"
	"trainsim/sim/report"
)

// rankPeak is what PyTorch counted on one rank of a job: a row of a table of
// rank memory.
type rankPeak struct {
	// ID is the file's name and the row's line, Family the model.
	ID, Family string
	// Rank is the global rank, Stage its pipeline rank.
	Rank, Stage int
	// Config is the rank's job, the same pointer for all ranks of a job; nil
	// where Skipped says why there is none.
	Config *job.Config
	// Allocated and Reserved are the rank's torch.cuda.max_memory_allocated and
	// max_memory_reserved in bytes, 0 where the table does not have them.
	Allocated, Reserved int64
	Skipped             string
}

// RankMemoryCluster is the machine of a table that names none: that of the only
// published table of this kind, SimuMax's jobs on eight B200.
const RankMemoryCluster = "hgx-b200"

// rankMemoryRows reads a table of single ranks' peak memory: up to two rows of the
// score a line, allocated and reserved.
func rankMemoryRows(text []byte, name string, o Options) ([]Row, error) {
	rows, err := readRankMemory(text, name, o.Cluster)
	if err != nil {
		return nil, err
	}
	accounts := map[*job.Config]*sharedAccount{nil: nil}
	var out []Row
	for i := range rows {
		m := &rows[i]
		if _, known := accounts[m.Config]; !known {
			accounts[m.Config] = &sharedAccount{config: m.Config}
		}
		for _, figure := range []struct {
			metric memoryMetric
			bytes  int64
		}{{allocated, m.Allocated}, {reserved, m.Reserved}} {
			if figure.bytes > 0 || m.Skipped != "" {
				out = append(out, m.row(figure.metric, figure.bytes, accounts[m.Config]))
			}
		}
	}
	return out, nil
}

// row makes the row of one figure of a rank.
func (m *rankPeak) row(metric memoryMetric, bytes int64, shared *sharedAccount) Row {
	r := Row{Scored: report.Scored{
		ID: m.ID + " " + string(metric), Family: m.Family + " " + string(metric),
		MemoryMetric: string(metric), Skipped: m.Skipped,
	}}
	if bytes > 0 {
		r.MeasuredBytes = &bytes
	}
	if m.Skipped == "" {
		r.predict = func(ctx context.Context, s *report.Scored) error {
			ranks, err := shared.of(ctx)
			if err == nil {
				s.PredictMemory(&ranks[m.Stage])
			}
			return err
		}
	}
	return r
}

// sharedAccount is the memory account of a job, which all its rows share.
type sharedAccount struct {
	config *job.Config
	once   sync.Once
	ranks  []account.RankMemory
	err    error
}

// of makes the account when it is first asked for.
func (a *sharedAccount) of(ctx context.Context) ([]account.RankMemory, error) {
	a.once.Do(func() { a.ranks, a.err = accountOf(ctx, a.config) })
	return a.ranks, a.err
}

// accountOf is the memory account of a job, a rank of each stage.
func accountOf(ctx context.Context, c *job.Config) ([]account.RankMemory, error) {
	j, err := job.Build(ctx, c, account.Peaks)
	if err != nil {
		return nil, err
	}
	return account.Replay(ctx, j, false)
}

// isRankMemory reports whether a CSV header is that of a table of rank memory.
func isRankMemory(header []string) bool {
	h := newHeader(header)
	return h.has("max_allocated_mb") || h.has("max_reserved_mb")
}

// readRankMemory reads a table of the peak memory of single ranks. Columns that
// it lacks are a Megatron-Core job's: the distributed optimizer in bf16 with
// fp32 gradients, 1F1B over several stages, sequence parallel with tensor
// parallel, no recomputation. A cluster that is given here stands for all rows.
// A row that is wrong, or whose job cannot be run, has Skipped set.
func readRankMemory(text []byte, name, cluster string) ([]rankPeak, error) {
	file, err := openTable(text, name)
	if err == nil {
		err = file.check(rankMemoryColumns, "rank memory")
	}
	if err != nil {
		return nil, err
	}
	t := rankMemoryTable{cluster: cluster, presets: presets{dir: filepath.Dir(name)}, jobs: map[string]*job.Config{}}
	var out []rankPeak
	err = file.each(func(r *record) { out = append(out, t.row(r)) })
	return out, err
}
