package schedule

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCheckFindsFaults changes a good program in one place at a time.
func TestCheckFindsFaults(t *testing.T) {
	cases := map[string]struct {
		change func(p *Program)
		rank   int
		token  string
	}{
		"no such operation":         {func(p *Program) { p.Lists[1][2].Op = 9 }, 1, "Op(9)0"},
		"chunk 3":                   {func(p *Program) { p.Lists[1][2].Chunk = 3 }, 1, "B0"},
		"micro-batch -1":            {func(p *Program) { p.Lists[1][2].Microbatch = -1 }, 1, "B-1"},
		"the list ends here":        {func(p *Program) { p.Lists[0][7].Pair = true }, 0, "B3"},
		"a pair is one forward":     {func(p *Program) { p.Lists[0][0].Pair = true }, 0, "F0"},
		"runs a second time":        {func(p *Program) { p.Lists[0][1].Microbatch = 0 }, 0, "F0"},
		"comes before its own F":    {func(p *Program) { l := p.Lists[1]; l[0], l[2] = l[2], l[0] }, 1, "B0"},
		"comes before its own F, W": {func(p *Program) { p.Lists[1][0].Op = BackwardWeight }, 1, "W0"},
		"is missing":                {func(p *Program) { p.Lists[0] = p.Lists[0][:7] }, 0, "B3"},
		"deadlock":                  {func(p *Program) { l := p.Lists[0]; l[2], l[4] = l[4], l[2]; l[3], l[4] = l[4], l[3] }, 0, "B1"},
	}
	for want, c := range cases {
		t.Run(want, func(t *testing.T) {
			p := &Program{Kind: "mine", Ranks: 2, Microbatches: 4, Chunks: 1, Placement: Loop, Batches: 1}
			for range 2 { // 1F1B with one forward of warm-up on both ranks
				p.Lists = append(p.Lists, []Action{
					Forward.At(0, 0), Forward.At(1, 0), Backward.At(0, 0), Forward.At(2, 0), Backward.At(1, 0),
					Forward.At(3, 0), Backward.At(2, 0), Backward.At(3, 0),
				})
			}
			require.NoError(t, p.Check())
			c.change(p)
			_, err := p.Execute(context.Background(), UnitCosts())
			var e *CheckError
			require.True(t, errors.As(err, &e), "%v", err)
			require.Contains(t, e.Error(), strings.TrimSuffix(want, ", W"))
			require.Equal(t, c.rank, e.Rank)
			require.Equal(t, c.token, e.Token)
		})
	}
}

func TestCheckShape(t *testing.T) {
	for want, p := range map[string]*Program{
		"each is at least 1":           {},
		"lists for 2 ranks":            {Ranks: 2, Microbatches: 1, Chunks: 1},
		"an even number of ranks":      {Ranks: 1, Microbatches: 2, Chunks: 2, Placement: Bidirectional, Lists: make([][]Action, 1)},
		"read such a program":          {Ranks: 1, Microbatches: 1, Chunks: 1, Placement: Custom, Lists: make([][]Action, 1)},
		"placement Placement(9)":       {Ranks: 1, Microbatches: 1, Chunks: 1, Placement: 9, Lists: make([][]Action, 1)},
		"F0) is missing":               {},
		"action 0 (F0.0): is missing;": {},
	} {
		switch want {
		case "F0) is missing":
			want, p = "(F0): is missing", &Program{Ranks: 1, Microbatches: 1, Chunks: 1, Lists: make([][]Action, 1)}
		case "action 0 (F0.0): is missing;":
			p = &Program{Ranks: 1, Microbatches: 1, Chunks: 2, Lists: make([][]Action, 1)}
		}
		require.ErrorContains(t, p.Check(), want)
	}
}
