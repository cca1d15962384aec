package schedule

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNames(t *testing.T) {
	require.Equal(t, "F I W B Op(7)", strings.Join([]string{Forward.String(), BackwardInput.String(), BackwardWeight.String(), Backward.String(), Op(7).String()}, " "))
	require.Equal(t, "loop wave bidirectional custom Placement(9)", strings.Join([]string{Loop.String(), Wave.String(), Bidirectional.String(), Custom.String(), Placement(9).String()}, " "))
	require.Equal(t, "COMPUTE SEND_F RECV_F SEND_B RECV_B StepKind(9)", strings.Join([]string{Compute.String(), SendForward.String(), RecvForward.String(), SendBackward.String(), RecvBackward.String(), StepKind(9).String()}, " "))
	require.Equal(t, Action{Op: Backward, Microbatch: 4, Chunk: 1}, Backward.At(4, 1))
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
