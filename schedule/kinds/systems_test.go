package kinds

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/schedule"
)

// TestLowerAsEqualsSystems compares the order of sends and receives with what
// DeepSpeed and DeepSeek execute.
func TestLowerAsEqualsSystems(t *testing.T) {
	readTestdata(t, "comm_orders*.json", func(name string, records []commRecord) {
		for _, r := range records {
			system, text := schedule.DeepSeek, batchText
			switch {
			case strings.HasPrefix(r.Src, "deepspeed"):
				system, text = schedule.DeepSpeed, deepSpeedText
			case !strings.HasPrefix(r.Src, "deepseek"):
				continue
			}
			t.Run(fmt.Sprintf("%s/%s-p%dm%d", name, r.Sched, r.P, r.M), func(t *testing.T) {
				p, err := Build(t.Context(), r.Sched, schedule.Options{Ranks: r.P, Microbatches: r.M})
				require.NoError(t, err)
				lists, err := p.LowerAs(system)
				require.NoError(t, err)
				for rank, want := range r.Ranks {
					if system == schedule.DeepSpeed {
						want = plainDeepSpeed(want)
					}
					require.Equal(t, want, text(p, lists[rank]), "rank %d", rank)
				}
			})
		}
	})
}

// batchText writes a list as "F0.0 [SF0.0,RF0.1] F0.1+B0.0".
func batchText(p *schedule.Program, list []schedule.Step) string {
	return strings.Join(p.StepTokens(list), " ")
}

// deepSpeedText writes a list in DeepSpeed's short instructions.
func deepSpeedText(_ *schedule.Program, list []schedule.Step) string {
	words := map[schedule.StepKind]string{schedule.SendForward: "SA", schedule.RecvForward: "RA", schedule.SendBackward: "SG", schedule.RecvBackward: "RG"}
	var out []string
	for _, s := range list {
		if s.Kind == schedule.Compute {
			out = append(out, s.Action.Op.String())
		} else {
			out = append(out, words[s.Kind])
		}
	}
	return strings.Join(out, " ")
}

// plainDeepSpeed leaves out the bars between slots, the loads of data and the
// optimizer's instructions.
func plainDeepSpeed(s string) string {
	var out []string
	for _, word := range strings.Fields(s) {
		switch word {
		case "|", "L", "RT", "RD", "O":
		default:
			out = append(out, word)
		}
	}
	return strings.Join(out, " ")
}

// TestLowerAsMegatron: 1F1B fuses the transfers between a forward and a
// backward.
func TestLowerAsMegatron(t *testing.T) {
	p, err := Build(t.Context(), "1f1b", schedule.Options{Ranks: 3, Microbatches: 3})
	require.NoError(t, err)
	lists, err := p.LowerAs(schedule.Megatron)
	require.NoError(t, err)
	want := []string{
		"F0 [SF0] F1 [SF1] F2 [SF2,RB0] B0 [RB1] B1 [RB2] B2",
		"[RF0] F0 [SF0] [RF1] F1 [SF1,RB0] B0 [SB0,RF2] F2 [SF2,RB1] B1 [SB1] [RB2] B2 [SB2]",
		"[RF0] F0 B0 [SB0,RF1] F1 B1 [SB1,RF2] F2 B2 [SB2]",
	}
	for rank := range want {
		require.Equal(t, want[rank], batchText(p, lists[rank]))
	}
}

// TestLowerAsIsComplete: whatever the system, every message is sent and
// received once, and everything is received before it is used.
func TestLowerAsIsComplete(t *testing.T) {
	for _, c := range []struct {
		kind   string
		system schedule.System
	}{{"1f1b", schedule.Megatron}, {"1f1b", schedule.DeepSpeed}, {"1f1b", schedule.Torch}, {"interleaved", schedule.Megatron}, {"dualpipe", schedule.DeepSeek}, {"dualpipev", schedule.DeepSeek}, {"zb-v", schedule.AnySystem}} {
		for p := 2; p <= 8; p += 2 {
			for m := 2 * p; m <= 2*p+8; m += 2 {
				program, err := Build(t.Context(), c.kind, schedule.Options{Ranks: p, Microbatches: m, GroupSize: groupFor(c.kind, p, m)})
				if err != nil {
					continue
				}
				lists, err := program.LowerAs(c.system)
				require.NoError(t, err)
				_, err = schedule.ParseCSV(commText(program, lists), "x.csv")
				require.NoError(t, err, "%v p%d m%d", c, p, m)
			}
		}
	}
}

// commText writes lists with sends and receives in torch's notation.
func commText(p *schedule.Program, lists [][]schedule.Step) string {
	var b strings.Builder
	for rank, list := range lists {
		for i, s := range list {
			mb := int(s.Action.Microbatch) + p.Pipe(int(s.Action.Chunk))*p.PipeMicrobatches()
			kind := s.Kind.String()
			if s.Kind == schedule.Compute {
				kind = s.Action.Op.String()
			}
			cell := fmt.Sprintf("%d%s%d", p.Stage(rank, int(s.Action.Chunk)), kind, mb)
			switch {
			case s.Kind == schedule.Compute && s.Action.Pair:
				cell = "(" + cell + ";"
			case i > 0 && list[i-1].Kind == schedule.Compute && list[i-1].Action.Pair:
				cell += ")OVERLAP_F_B,"
			default:
				cell += ","
			}
			b.WriteString(cell)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func groupFor(kind string, p, m int) int {
	if kind == "interleaved" && m%p != 0 {
		return m
	}
	return 0
}

func TestLowerAsRefuses(t *testing.T) {
	p, err := Build(t.Context(), "zb-h1", schedule.Options{Ranks: 2, Microbatches: 4})
	require.NoError(t, err)
	_, err = p.LowerAs(schedule.DeepSpeed)
	require.ErrorContains(t, err, "deepspeed does not run zb-h1")
}
