package schedule_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/schedule"
	"trainsim/schedule/kinds"
	"trainsim/sim/input"
)

// TestParseCSVErrors: every mistake names its row, its column and what to do.
func TestParseCSVErrors(t *testing.T) {
	cases := map[string]struct {
		text        string
		row, column int
		want        string
	}{
		"empty":               {"", 0, 0, "has no rows; write one row of actions a rank"},
		"only comments":       {"# nothing\n", 0, 0, "has no rows"},
		"UTF-16":              {"\xff\xfe0\x00F\x000\x00", 0, 0, "is UTF-16; save it as UTF-8"},
		"semicolons":          {"0F0;0B0\n", 1, 0, "its actions are separated by semicolons; write commas between them"},
		"tabs":                {"0F0\t0B0\n", 1, 0, "its actions are separated by tabs; write commas between them"},
		"a megabyte":          {"0F0" + strings.Repeat("x", 1<<20) + ",0B0\n", 1, 1, "xxx…\"): \"xxx"},
		"a long number":       {"0F" + strings.Repeat("9", 1<<20) + ",0B0\n", 1, 1, "999… is too large"},
		"empty rank":          {"0F0,0B0\n,\n", 2, 0, "no action"},
		"unknown operation":   {"0X0,0B0\n", 1, 1, "unknown operation"},
		"no stage":            {"0F0,B0\n", 1, 2, "stage: a number is missing"},
		"no micro-batch":      {"0F0,0B\n", 1, 2, "micro-batch: a number is missing"},
		"trailing text":       {"0F0x,0B0\n", 1, 1, "follows the micro-batch"},
		"huge number":         {"0F99999999999999999999,0B0\n", 1, 1, "too large"},
		"too many":            {"0F0,0B0,0F9\n", 1, 3, "only 3 actions"},
		"doubled":             {"0F0,0B0,0B0\n", 1, 3, "a second time"},
		"doubled backward":    {"0F0,0B0,0W0\n", 1, 3, "a second time"},
		"missing forward":     {"0F0,0B0,0F1,0B1\n1F0,1B0\n", 2, 0, "1F1 is missing"},
		"missing backward":    {"0F0\n", 1, 0, "0B0 is missing"},
		"missing weight":      {"0F0,0I0\n", 1, 0, "0W0 is missing"},
		"backward first":      {"0B0,0F0\n", 1, 1, "before its own F"},
		"weight first":        {"0F0,0W0,0I0\n", 1, 2, "before its own I"},
		"stage gap":           {"0F0,0B0\n2F0,2B0\n", 2, 1, "have stages 0 to 1"},
		"stage twice":         {"0F0,0B0\n0F0,0B0\n", 2, 1, "is on row 1 too"},
		"uneven stages":       {"0F0,0B0,1F0,1B0\n2F0,2B0\n", 2, 0, "same number of stages"},
		"bad pair":            {"0F0,(0F1;0B0)OVERLAP,0B1\n", 1, 2, "an overlapped pair is written"},
		"pair of one":         {"0F0,(0F1)OVERLAP_F_B,0B1\n", 1, 2, "an overlapped pair is written"},
		"pair of forwards":    {"(0F0;0F1)OVERLAP_F_B,0B0,0B1\n", 1, 1, "one forward and one backward"},
		"pair of sends":       {"0F0,(0SEND_F0;0B0)OVERLAP_F_B\n", 1, 2, "only computation"},
		"pair's second half":  {"0F0,(0F1;0Z0)OVERLAP_F_B,0B1\n", 1, 2, "second half: unknown operation"},
		"deadlock":            {"0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n", 1, 2, "deadlock: rank 0 at 0B0 waits for 1B0 of rank 1; rank 1 at 1F1 waits for 0F1 of rank 0"},
		"odd bidirectional":   {"0F0,1F1,0F2,0B0,1B1,0B2\n1F0,0F1,1F2,1B0,0B1,1B2\n", 1, 0, "an even number"},
		"wrong direction":     {"0F0,0F1,1F1,0B0,0B1\n1F0,0F1,1B0,0B1\n", 1, 2, "runs through this rank on another stage"},
		"no receive":          {"0F0,0SEND_F0,0RECV_B0,0B0\n1F0,1RECV_F0,1B0,1SEND_B0\n", 2, 1, "before the receive of its input"},
		"never sent":          {"0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n", 1, 2, "no rank sends"},
		"sent before made":    {"0SEND_F0,0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n", 1, 1, "before the action that computes it"},
		"sent twice":          {"0F0,0SEND_F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n", 1, 3, "sent a second time"},
		"received twice":      {"0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1RECV_F0,1F0,1B0,1SEND_B0\n", 2, 2, "received a second time"},
		"sent to nobody":      {"0F0,0SEND_F0,0RECV_B0,0B0,0SEND_B0\n1RECV_F0,1F0,1B0,1SEND_B0\n", 1, 5, "sends to no other rank"},
		"received of nobody":  {"0RECV_F0,0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n", 1, 1, "receives from no other rank"},
		"send of unknown":     {"0F0,0SEND_F3,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n", 1, 0, "0F1 is missing"},
		"local hand-off late": {"0F0,1SEND_F0,1F0,1B0,0B0\n", 1, 2, "sends to no other rank"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := schedule.ParseCSV(c.text, "x.csv")
			var e *input.Problem
			require.True(t, errors.As(err, &e), "%v", err)
			require.Contains(t, e.Error(), c.want)
			require.Equal(t, c.row, e.Line, e.Error())
			require.Equal(t, c.column, e.Column, e.Error())
			require.Equal(t, c.row > 0, strings.HasPrefix(e.Error(), "x.csv: row "), e.Error())
			require.Less(t, len(e.Error()), 500)
		})
	}
}

func TestParseCSVQuotes(t *testing.T) {
	_, err := schedule.ParseCSV("\"0F0\n", "x.csv")
	require.ErrorContains(t, err, "x.csv: ")
}

// TestParseCSVPlacements: the placement follows from the stages of the rows.
func TestParseCSVPlacements(t *testing.T) {
	for want, text := range map[schedule.Placement]string{
		schedule.Loop:          "0F0,2F0,2B0,0B0\n1F0,3F0,3B0,1B0\n",
		schedule.Wave:          "0F0,3F0,3B0,0B0\n1F0,2F0,2B0,1B0\n",
		schedule.Bidirectional: "0F0,1F1,0B0,1B1\n1F0,0F1,1B0,0B1\n",
		schedule.Custom:        "0F0,1F0,1B0,0B0\n2F0,3F0,3B0,2B0\n",
	} {
		if want == schedule.Bidirectional {
			text = "0F0,1F1,1B1,0B0\n0F1,1F0,1B0,0B1\n"
		}
		p, err := schedule.ParseCSV(text, "x.csv")
		require.NoError(t, err, want)
		require.Equal(t, want, p.Placement)
		for rank := range p.Ranks {
			for chunk := range p.Chunks {
				r, c := p.Owner(p.Pipe(chunk), p.Stage(rank, chunk))
				require.Equal(t, [2]int{rank, chunk}, [2]int{r, c}, want)
			}
		}
		_, err = p.Execute(context.Background(), schedule.UnitCosts())
		require.NoError(t, err)
	}
}

// TestParseCSVReadsOver: a byte-order mark, idle slots, FSDP's actions, comments
// and old names.
func TestParseCSVReadsOver(t *testing.T) {
	text := "\ufeff# my schedule\n0UNSHARD, 0F0 ,,0F1,,0BW0,0B1,0REDUCE_GRAD,0RESHARD\n,1F0,1B0,1F1,1BW1,,\n"
	p, err := schedule.ParseCSV(text, "x.csv")
	require.NoError(t, err)
	require.Equal(t, []string{"F0", "F1", "B0", "B1"}, p.Tokens(0))
	require.Equal(t, []string{"F0", "B0", "F1", "B1"}, p.Tokens(1))
	require.Equal(t, "csv", p.Kind)
	require.Equal(t, 2, p.Microbatches)
}

// TestBidirectionalFileNumbers: a file counts micro-batches over both
// directions.
func TestBidirectionalFileNumbers(t *testing.T) {
	p, err := kinds.Build(t.Context(), "dualpipe", schedule.Options{Ranks: 2, Microbatches: 4})
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, p.WriteCSV(&b))
	require.Equal(t, "0F0,1F2,0F1,1B2,(1F3;0B0)OVERLAP_F_B,1B3,0I1,0W1\n0F2,1F0,0F3,1B0,(1F1;0B2)OVERLAP_F_B,1B1,0I3,0W3\n", b.String())
}

func FuzzParseCSV(f *testing.F) {
	for _, text := range []string{
		"0F0,0B0\n", "0F0,0I0,0W0\n", "0F0,1F0,1B0,0B0\n2F0,3F0,3B0,2B0\n",
		"0F0,2F0,2B0,0B0\n1F0,3F0,3B0,1B0\n", "0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n",
		"0F0,1F2,0F1,1B2,(1F3;0B0)OVERLAP_F_B,1B3,0I1,0W1\n0F2,1F0,0F3,1B0,(1F1;0B2)OVERLAP_F_B,1B1,0I3,0W3\n",
		"0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n", "(0F0;0F1)OVERLAP_F_B", "# c\n0UNSHARD,0F99999999,,\n\"",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := schedule.ParseCSV(text, "x.csv")
		if err != nil {
			require.True(t, strings.HasPrefix(err.Error(), "x.csv: "), err.Error())
			return
		}
		r, err := p.Execute(context.Background(), schedule.UnitCosts())
		require.NoError(t, err)
		require.GreaterOrEqual(t, r.Makespan, r.Work)
		var first, second strings.Builder
		require.NoError(t, p.WriteCommCSV(&first))
		q, err := schedule.ParseCSV(first.String(), "x.csv")
		require.NoError(t, err)
		require.Equal(t, p.Lists, q.Lists)
		require.NoError(t, q.WriteCommCSV(&second))
		require.Equal(t, first.String(), second.String())
	})
}
