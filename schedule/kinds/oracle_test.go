package kinds

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/schedule"
)

// oracleRecord is one record of testdata/oracle*.json: a schedule's lists as
// the named systems order them, with times and peaks derived by an independent
// executor.
type oracleRecord struct {
	ID    string `json:"id"`
	Sched string `json:"sched"`
	P     int    `json:"p"`
	M     int    `json:"m"`
	V     int    `json:"v"`
	Place string `json:"place"`
	Opts  struct {
		N     int       `json:"N"`
		Flex  int       `json:"flex"`
		G     int       `json:"G"`
		Waves int       `json:"waves"`
		T     int       `json:"T"`
		C     []float64 `json:"c"`
		Cap   int       `json:"cap"`
	} `json:"opts"`
	Ops     []string                     `json:"ops"`
	Peak    []int                        `json:"peak"`
	PeakI   []int                        `json:"peakI"`
	Msgs    [][2]int                     `json:"msgs"`
	Res     map[string][]json.RawMessage `json:"res"`
	FB      map[string]float64           `json:"fb"` // closed-form bubble by scenario
	StartA3 [][]float64                  `json:"start_a3"`
	Warm    []int                        `json:"warm"`
	NVer    []int                        `json:"nver"`
	Batches int                          `json:"batches"`
}

type optimalRecord struct {
	P, M, Cap     int
	C             []float64
	Makespan      *float64 `json:"opt_makespan"`
	SpanBubble    *float64 `json:"opt_span_bubble"`
	MaxSpan       *float64 `json:"opt_max_span"`
	GreedyMaxSpan *float64 `json:"zb_greedy_max_span"`
}

type oracleFile struct {
	Records []oracleRecord  `json:"records"`
	Optimal []optimalRecord `json:"optimal"`
}

// readTestdata decodes every testdata file that matches pattern and calls each
// with its base name.
func readTestdata[T any](t *testing.T, pattern string, each func(name string, file T)) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", pattern))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		var file T
		require.NoError(t, json.Unmarshal(data, &file), path)
		each(strings.TrimSuffix(filepath.Base(path), ".json"), file)
	}
}

// scenarioCosts are the cost scenarios that the oracle's meta block defines.
func scenarioCosts(name string, stages int) schedule.Costs {
	ten := schedule.StageCost{Forward: 10, BackwardInput: 12, BackwardWeight: 8}
	switch name {
	case "u0":
		return schedule.UnitCosts()
	case "u1":
		c := schedule.UnitCosts()
		c.Latency = 1
		return c
	case "a0":
		return schedule.Costs{StageCost: ten}
	case "a3":
		return schedule.Costs{StageCost: ten, Latency: 3}
	case "o0":
		return schedule.Costs{StageCost: ten, Pair: 24}
	case "h3":
		c := schedule.Costs{Latency: 3}
		for s := range stages {
			c.PerStage = append(c.PerStage, schedule.StageCost{
				Forward: float64(10 + (7*s)%5), BackwardInput: float64(12 + (3*s)%4), BackwardWeight: float64(8 + s%3)})
		}
		return c
	}
	panic("unknown scenario " + name)
}

// options are the options that build a record.
func (r *oracleRecord) options() schedule.Options {
	o := schedule.Options{Ranks: r.P, Microbatches: r.M, VirtualStages: r.V,
		GroupSize: max(r.Opts.N, r.Opts.G), MemoryCap: r.Opts.Cap, Batches: r.Opts.T}
	if c := r.Opts.C; c != nil {
		o.Costs = schedule.Costs{StageCost: schedule.StageCost{Forward: c[0], BackwardInput: c[1], BackwardWeight: c[2]}, Latency: c[3]}
	}
	return o
}

func TestOracle(t *testing.T) {
	readTestdata(t, "oracle*.json", func(name string, file oracleFile) {
		for i := range file.Records {
			r := &file.Records[i]
			t.Run(name+"/"+r.ID, func(t *testing.T) { checkRecord(t, r) })
		}
	})
}

func checkRecord(t *testing.T, r *oracleRecord) {
	p, err := Build(t.Context(), r.Sched, r.options())
	require.NoError(t, err)
	require.Equal(t, r.V, p.Chunks)
	for rank, want := range r.Ops {
		require.Equal(t, want, strings.Join(p.Tokens(rank), " "), "rank %d", rank)
	}
	require.NoError(t, p.Check())
	for name := range r.Res {
		checkScenario(t, r, p, name)
	}
	if r.NVer != nil {
		require.Equal(t, r.NVer, p.WeightVersions)
	}
}

func checkScenario(t *testing.T, r *oracleRecord, p *schedule.Program, name string) {
	var makespan float64
	var idle, span []float64
	require.NoError(t, json.Unmarshal(r.Res[name][0], &makespan))
	require.NoError(t, json.Unmarshal(r.Res[name][1], &idle))
	require.NoError(t, json.Unmarshal(r.Res[name][2], &span))
	got, err := p.Execute(context.Background(), scenarioCosts(name, p.Stages()))
	require.NoError(t, err)
	require.Equal(t, makespan, got.Makespan, name)
	require.Equal(t, idle, got.Idle, name)
	require.Equal(t, span, got.Span, name)
	if bubble, ok := r.FB[name]; ok {
		require.Equal(t, bubble, got.Bubble(), name)
	}
	require.Equal(t, r.Peak, got.Peak)
	if r.PeakI == nil {
		r.PeakI = r.Peak
	}
	require.Equal(t, r.PeakI, got.PeakInput)
	require.Equal(t, r.Msgs, got.Messages)
	if name == "a3" && r.StartA3 != nil {
		require.Equal(t, r.StartA3, tokenStarts(p, got))
	}
}

// tokenStarts returns start times by token, so that a pair counts once.
func tokenStarts(p *schedule.Program, r *schedule.Result) [][]float64 {
	out := make([][]float64, p.Ranks)
	for rank, list := range p.Lists {
		for i := range list {
			if i == 0 || !list[i-1].Pair {
				out[rank] = append(out[rank], r.Start[rank][i])
			}
		}
	}
	return out
}
