package schedule

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNames(t *testing.T) {
	require.Equal(t, "F I W B Op(7)", strings.Join([]string{Forward.String(), BackwardInput.String(), BackwardWeight.String(), Backward.String(), Op(7).String()}, " "))
	require.Equal(t, "loop wave bidirectional custom Placement(9)", strings.Join([]string{Loop.String(), Wave.String(), Bidirectional.String(), Custom.String(), Placement(9).String()}, " "))
	require.Equal(t, "COMPUTE SEND_F RECV_F SEND_B RECV_B StepKind(9)", strings.Join([]string{Compute.String(), SendForward.String(), RecvForward.String(), SendBackward.String(), RecvBackward.String(), StepKind(9).String()}, " "))
	require.Equal(t, "F4.1", act(Forward, 4, 1).String())
	var op Op
	require.NoError(t, op.UnmarshalText([]byte("BW")))
	require.Equal(t, Backward, op)
	require.Error(t, op.UnmarshalText([]byte("X")))
	for _, s := range []System{AnySystem, Torch, Megatron, DeepSpeed, DeepSeek} {
		var got System
		require.NoError(t, got.UnmarshalText([]byte(strings.ToUpper(s.String()))))
		require.Equal(t, s, got)
	}
	var s System
	require.NoError(t, s.UnmarshalText(nil))
	require.Equal(t, AnySystem, s)
	require.ErrorContains(t, s.UnmarshalText([]byte("jax")), "write one of any, torch")
	require.Equal(t, "System(9)", System(9).String())
}

// TestFind: names are unique, and spelling does not matter.
func TestFind(t *testing.T) {
	owner := map[string]string{}
	for _, k := range Kinds() {
		require.NotEmpty(t, k.Summary)
		require.NotEmpty(t, k.Constraint)
		for _, name := range append([]string{k.Name}, k.Aliases...) {
			require.Empty(t, owner[normalise(name)], "%s names two schedules", name)
			owner[normalise(name)] = k.Name
			for _, spelt := range []string{name, strings.ToUpper(name), strings.ReplaceAll(name, "-", "_")} {
				found, err := Find(spelt)
				require.NoError(t, err)
				require.Equal(t, k.Name, found.Name)
			}
		}
	}
	_, err := Find("nope")
	require.ErrorContains(t, err, `unknown schedule "nope"; write one of gpipe,`)
	_, err = Build("nope", Options{})
	require.Error(t, err)
}

func TestCountErrorText(t *testing.T) {
	_, err := Build("dualpipe", Options{Ranks: 4, Microbatches: 9})
	require.EqualError(t, err, "schedule dualpipe: microbatches = 9: even, and at least two for each rank; write 8 or 10")
	_, err = Build("interleaved", Options{Ranks: 4, Microbatches: 11})
	require.EqualError(t, err, "schedule interleaved: microbatches = 11: a multiple of the 2 rounds, max(1, m/p), or a group size such as 6; write 10 or 12")
	_, err = Build("interleaved", Options{Ranks: 4, Microbatches: 9, GroupSize: 4, System: Megatron})
	require.EqualError(t, err, "schedule interleaved: group size = 4: between the 4 ranks and the 9 micro-batches, with m mod N = 0 or >= 4 (Megatron); write 5")
	_, err = Build("interleaved", Options{Ranks: 4, Microbatches: 11, System: Torch, GroupSize: 4})
	require.EqualError(t, err, "schedule interleaved: microbatches = 11: torch: a multiple of the 2 rounds, max(1, m/p); write 10 or 12")
	_, err = Build("interleaved", Options{Ranks: 4, Microbatches: 3, System: Megatron, GroupSize: 3})
	require.EqualError(t, err, "schedule interleaved: microbatches = 3: a group size from the 4 ranks to m; write 4")
}

func TestOptionsAreBounded(t *testing.T) {
	base := Options{Ranks: 4, Microbatches: 8}
	for name, change := range map[string]func(o *Options){
		"a program holds at most":  func(o *Options) { o.Microbatches = 1 << 30 },
		"between 1 and 16384":      func(o *Options) { o.VirtualStages = 1 << 20 },
		"are at least 0":           func(o *Options) { o.GroupSize = -1 },
		"weight share 2":           func(o *Options) { o.WeightShare = 2 },
		"a step has a micro-batch": func(o *Options) { o.Microbatches = -3 },
	} {
		o := base
		change(&o)
		_, err := Build("interleaved", o)
		require.ErrorContains(t, err, name)
	}
	o := base
	o.Costs = Costs{StageCost: StageCost{Forward: -1}}
	_, err := Build("zb-auto", o)
	require.ErrorContains(t, err, "finite numbers of at least 0")
	o.Costs = Costs{StageCost: StageCost{Forward: 1}, PerStage: make([]StageCost, 3)}
	_, err = Build("zb-auto", o)
	require.ErrorContains(t, err, "the program has 4 stages")
}

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
			p.Lists = [][]Action{oneFOneB(4, 1), oneFOneB(4, 1)}
			require.NoError(t, p.Check())
			c.change(p)
			_, err := p.Execute(UnitCosts())
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

// TestSummaryKeys: the JSON form holds what the command promises.
func TestSummaryKeys(t *testing.T) {
	p, r := execute(t, "pipedream", Options{Ranks: 2, Microbatches: 3}, UnitCosts())
	data, err := json.Marshal(p.Summary(r))
	require.NoError(t, err)
	require.JSONEq(t, `{"schedule":"pipedream","p":2,"m":3,"v":1,
		"ops":[["F0","F1","B0","F2","B1","B2"],["F0","B0","F1","B1","F2","B2"]],
		"makespan":12,"work":9,"bubble":3,"bubble_over_ideal":0.3333333333333333,"bubble_over_total":0.25,"span_bubble":3,
		"idle":[3,3],"span":[12,9],"peak":[2,1],"peak_input":[2,1],"messages":[[3,0],[0,3]],"weight_versions":[2,1]}`, string(data))
}

// TestGanttDrawsEveryAction at several widths, with and without colour.
func TestGanttDrawsEveryAction(t *testing.T) {
	p, r := execute(t, "dualpipe", Options{Ranks: 4, Microbatches: 8}, UnitCosts())
	for width, want := range map[int]string{
		26:  "FFFFIWFF3#.F2#B2.F3#B3IWIW",
		52:  "F0F1F2F0I0W0F1F3####..F2####B2.1..",
		260: "F0.0======F1.0======",
	} {
		var b strings.Builder
		require.NoError(t, p.Gantt(&b, r, GanttOptions{Width: width}))
		lines := strings.Split(b.String(), "\n")
		require.Len(t, lines, 6)
		require.True(t, strings.HasPrefix(lines[0], "rank 0 "+want), "%s\n%s", want, lines[0])
		for _, line := range lines[:4] {
			require.Len(t, line, len("rank 0 ")+width)
		}
	}
	var plain, colored strings.Builder
	require.NoError(t, p.Gantt(&plain, r, GanttOptions{}))
	require.NoError(t, p.Gantt(&colored, r, GanttOptions{Color: true}))
	text := colored.String()
	for _, code := range ganttColors {
		text = strings.ReplaceAll(text, "\x1b["+code+"m", "")
	}
	require.Equal(t, plain.String(), strings.ReplaceAll(text, "\x1b[0m", ""))
}

// TestGanttOfNothing: costs of zero are drawn as an empty chart.
func TestGanttOfNothing(t *testing.T) {
	p, r := execute(t, "1f1b", Options{Ranks: 2, Microbatches: 2}, Costs{})
	var b strings.Builder
	require.NoError(t, p.Gantt(&b, r, GanttOptions{Width: 10}))
	require.Equal(t, "rank 0 ..........\nrank 1 ..........\n       0\n", b.String())
	require.Zero(t, r.BubbleOverIdeal())
	require.Zero(t, r.BubbleOverTotal())
}

func TestRoundStep(t *testing.T) {
	for x, want := range map[float64]float64{1: 1, 1.5: 2, 3: 5, 7: 10, 0.03: 0.05, 120: 200} {
		require.InEpsilon(t, want, roundStep(x), 1e-12)
	}
}

// TestPlacements: Owner is the inverse of Stage, and Prev and Next step
// through the stages.
func TestPlacements(t *testing.T) {
	for _, place := range []Placement{Loop, Wave, Bidirectional} {
		for _, ranks := range []int{2, 4} {
			p := &Program{Ranks: ranks, Chunks: 2, Placement: place}
			for pipe := range p.Pipes() {
				rank, chunk := p.Owner(pipe, 0)
				_, _, ok := p.Prev(rank, chunk)
				require.False(t, ok)
				for stage := range p.Stages() {
					require.Equal(t, stage, p.Stage(rank, chunk))
					require.Equal(t, pipe, p.Pipe(chunk))
					r, c := p.Owner(pipe, stage)
					require.Equal(t, []int{rank, chunk}, []int{r, c})
					next, nextChunk, ok := p.Next(rank, chunk)
					require.Equal(t, stage < p.Stages()-1, ok)
					if ok {
						back, backChunk, _ := p.Prev(next, nextChunk)
						require.Equal(t, []int{rank, chunk}, []int{back, backChunk})
						rank, chunk = next, nextChunk
					}
				}
			}
		}
	}
}
