package kinds

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/schedule"
)

// negativeFile is one testdata/negative*.json: counts that systems accept or
// refuse, and lists that must be reported as stuck.
type negativeFile struct {
	Constraints []struct {
		System string `json:"system"`
		Sched  string `json:"sched"`
		P      int    `json:"p"`
		M      int    `json:"m"`
		V      int    `json:"v"`
		N      int    `json:"N"`
		OK     bool   `json:"ok"`
		Why    string `json:"why"`
		Bubble any    `json:"executor_u0_bubble"` // a number, or "deadlock"
	} `json:"constraints"`
	Deadlock []struct {
		Sched  string   `json:"sched"`
		P      int      `json:"p"`
		M      int      `json:"m"`
		V      int      `json:"v"`
		Place  string   `json:"place"`
		Ops    []string `json:"ops"`
		Expect string   `json:"expect"`
	} `json:"deadlock"`
}

func TestNegative(t *testing.T) {
	readTestdata(t, "negative*.json", func(name string, file negativeFile) {
		for i, c := range file.Constraints {
			t.Run(fmt.Sprintf("%s/%d-%s-%s-p%dm%dv%dN%d", name, i, c.System, c.Sched, c.P, c.M, c.V, c.N), func(t *testing.T) {
				o := schedule.Options{Ranks: c.P, Microbatches: c.M, VirtualStages: c.V, GroupSize: c.N}
				require.NoError(t, o.System.UnmarshalText([]byte(c.System)))
				_, err := Build(t.Context(), c.Sched, o)
				if c.OK {
					require.NoError(t, err)
				} else {
					var count *schedule.CountError
					require.True(t, errors.As(err, &count), "%v", err)
				}
				if c.Bubble != nil {
					checkRefusedBubble(t, o, c.Bubble)
				}
			})
		}
		for i, d := range file.Deadlock {
			t.Run(fmt.Sprintf("%s/deadlock-%d-%s", name, i, d.Sched), func(t *testing.T) {
				p := recordProgram(t, &oracleRecord{P: d.P, M: d.M, V: d.V, Place: d.Place, Ops: d.Ops})
				err := p.Check()
				if d.Expect == "ok" {
					require.NoError(t, err)
					return
				}
				var e *schedule.CheckError
				require.True(t, errors.As(err, &e), "%v", err)
				require.True(t, e.Deadlock, "%v", err)
				require.Contains(t, d.Ops[e.Rank], e.Token)
			})
		}
	})
}

// checkRefusedBubble runs the lists that the system refuses: they leave a larger
// bubble than a valid group size would, or stick.
func checkRefusedBubble(t *testing.T, o schedule.Options, bubble any) {
	t.Helper()
	p := &schedule.Program{Kind: "interleaved", Ranks: o.Ranks, Microbatches: o.Microbatches, Chunks: o.VirtualStages, Placement: schedule.Loop, Batches: 1,
		Lists: interleavedLists(o.Ranks, o.Microbatches, o.VirtualStages, o.GroupSize, false)}
	r, err := p.Execute(context.Background(), schedule.UnitCosts())
	if bubble == "deadlock" {
		var e *schedule.CheckError
		require.True(t, errors.As(err, &e), "%v", err)
		require.True(t, e.Deadlock)
		return
	}
	require.NoError(t, err)
	require.Equal(t, bubble, r.Bubble())
}
