package kinds

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/schedule"
)

// commRecord is one record of testdata/comm_orders.json: the sends and
// receives that a framework puts between the actions.
type commRecord struct {
	Src, Sched, Place string
	P, M, V           int
	Ranks             []string
}

func TestLowerEqualsTorch(t *testing.T) {
	readTestdata(t, "comm_orders*.json", func(name string, records []commRecord) {
		for _, r := range records {
			if !strings.HasPrefix(r.Src, "torch") {
				continue
			}
			t.Run(name+"/"+r.Sched, func(t *testing.T) {
				p, err := Build(t.Context(), r.Sched, schedule.Options{Ranks: r.P, Microbatches: r.M, VirtualStages: r.V})
				require.NoError(t, err)
				var b strings.Builder
				require.NoError(t, p.WriteCommCSV(&b))
				for rank, row := range strings.Split(strings.TrimSpace(b.String()), "\n") {
					require.Equal(t, r.Ranks[rank], strings.ReplaceAll(row, ",", " "), "p%d m%d rank %d", r.P, r.M, rank)
				}
			})
		}
	})
}

// TestCSVRoundTrip writes every oracle schedule in both notations and reads
// the same lists back.
func TestCSVRoundTrip(t *testing.T) {
	readTestdata(t, "oracle*.json", func(name string, file oracleFile) {
		for i := range file.Records {
			r := &file.Records[i]
			if r.P == 1 || r.P*r.M > 64 {
				continue // one rank has no placement to recognise; large ones add time only
			}
			t.Run(name+"/"+r.ID, func(t *testing.T) {
				p := recordProgram(t, r)
				var plain, comm strings.Builder
				require.NoError(t, p.WriteCSV(&plain))
				require.NoError(t, p.WriteCommCSV(&comm))
				for _, text := range []string{plain.String(), comm.String()} {
					q, err := schedule.ParseCSV(text, "x.csv")
					require.NoError(t, err)
					require.Equal(t, p.Lists, q.Lists)
					require.Equal(t, p.Placement, q.Placement)
					var again strings.Builder
					require.NoError(t, q.WriteCommCSV(&again))
					require.Equal(t, comm.String(), again.String())
				}
			})
		}
	})
}

// recordProgram reads a record's own lists, whatever generates them.
func recordProgram(t *testing.T, r *oracleRecord) *schedule.Program {
	t.Helper()
	place := map[string]schedule.Placement{"loop": schedule.Loop, "wave": schedule.Wave, "bidir": schedule.Bidirectional}[r.Place]
	return listsProgram(t, r.P, r.M*max(1, r.Batches), r.V, place, r.Ops)
}

var tokenPattern = regexp.MustCompile(`^([FIWB])(\d+)(?:\.(\d+))?$`)

func listsProgram(t *testing.T, p, m, v int, place schedule.Placement, ops []string) *schedule.Program {
	t.Helper()
	prog := &schedule.Program{Kind: "lists", Ranks: p, Microbatches: m, Chunks: v, Placement: place, Batches: 1, Lists: make([][]schedule.Action, p)}
	for rank, row := range ops {
		for _, token := range strings.Fields(row) {
			for j, half := range strings.Split(token, "+") {
				a := parseToken(t, half)
				a.Pair = j == 0 && strings.Contains(token, "+")
				prog.Lists[rank] = append(prog.Lists[rank], a)
			}
		}
	}
	return prog
}

func parseToken(t *testing.T, token string) schedule.Action {
	t.Helper()
	m := tokenPattern.FindStringSubmatch(token)
	require.NotNil(t, m, token)
	op := map[string]schedule.Op{"F": schedule.Forward, "I": schedule.BackwardInput, "W": schedule.BackwardWeight, "B": schedule.Backward}[m[1]]
	return op.At(number(t, m[2]), number(t, m[3]))
}

func number(t *testing.T, s string) int {
	t.Helper()
	n := 0
	for _, d := range s {
		n = 10*n + int(d-'0')
	}
	return n
}
