package draw_test

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/schedule"
	"trainsim/schedule/draw"
	"trainsim/schedule/kinds"
)

// built returns a schedule and its times.
func built(t *testing.T, kind string, o schedule.Options, c schedule.Costs) (*schedule.Program, *schedule.Result) {
	t.Helper()
	p, err := kinds.Build(t.Context(), kind, o)
	require.NoError(t, err)
	r, err := p.Execute(context.Background(), c)
	require.NoError(t, err)
	return p, r
}

// TestSummaryKeys: the JSON form holds what the command promises.
func TestSummaryKeys(t *testing.T) {
	p, r := built(t, "pipedream", schedule.Options{Ranks: 2, Microbatches: 3}, schedule.UnitCosts())
	data, err := json.Marshal(draw.Summarise(p, r))
	require.NoError(t, err)
	require.JSONEq(t, `{"schedule":"pipedream","p":2,"m":3,"v":1,
		"ops":[["F0","F1","B0","F2","B1","B2"],["F0","B0","F1","B1","F2","B2"]],
		"makespan":12,"work":9,"bubble":3,"bubble_over_ideal":0.3333333333333333,"bubble_over_total":0.25,"span_bubble":3,
		"idle":[3,3],"span":[12,9],"peak":[2,1],"peak_input":[2,1],"messages":[[3,0],[0,3]],"weight_versions":[2,1]}`, string(data))
}

// TestGanttDrawsEveryAction at several widths, with and without colour.
func TestGanttDrawsEveryAction(t *testing.T) {
	p, r := built(t, "dualpipe", schedule.Options{Ranks: 4, Microbatches: 8}, schedule.UnitCosts())
	for width, want := range map[int]string{
		26:  "FFFFIWFF3#.F2#B2.F3#B3IWIW",
		52:  "F0F1F2F0I0W0F1F3####..F2####B2.1..",
		260: "F0.0======F1.0======",
	} {
		var b strings.Builder
		require.NoError(t, draw.Gantt(&b, p, r, width, false))
		lines := strings.Split(b.String(), "\n")
		require.Len(t, lines, 6)
		require.True(t, strings.HasPrefix(lines[0], "rank 0 "+want), "%s\n%s", want, lines[0])
		for _, line := range lines[:4] {
			require.Len(t, line, len("rank 0 ")+width)
		}
	}
	var plain, colored strings.Builder
	require.NoError(t, draw.Gantt(&plain, p, r, 0, false))
	require.NoError(t, draw.Gantt(&colored, p, r, 0, true))
	require.Contains(t, colored.String(), "\x1b[36m")
	require.Equal(t, plain.String(), regexp.MustCompile("\x1b\\[[0-9]+m").ReplaceAllString(colored.String(), ""))
}

// TestGanttOfNothing: costs of zero are drawn as an empty chart.
func TestGanttOfNothing(t *testing.T) {
	p, r := built(t, "1f1b", schedule.Options{Ranks: 2, Microbatches: 2}, schedule.Costs{})
	var b strings.Builder
	require.NoError(t, draw.Gantt(&b, p, r, 10, false))
	require.Equal(t, "rank 0 ..........\nrank 1 ..........\n       0\n", b.String())
	require.Zero(t, r.BubbleOverIdeal())
	require.Zero(t, r.BubbleOverTotal())
}
