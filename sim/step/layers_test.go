package step_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/memory"
	"trainsim/sim/gpu"
	"trainsim/sim/input"
	"trainsim/sim/job"
	"trainsim/sim/job/jobtest"
	"trainsim/sim/model"
	"trainsim/sim/step"
)

// square is a kind of layer that the model package knows nothing of: one product,
// whose input is kept, and one more tensor for the backward.
type square struct{ width int64 }

func (l square) Input(s *model.Spec) (rows, width int64) { return s.Tokens() * s.Microbatch, l.width }
func (l square) Parameters(*model.Config) int64          { return l.width * l.width }
func (l square) Work(*model.Config) model.Work {
	return model.Work{FLOPs: float64(2 * l.width * l.width)}
}

func (l square) Forward(b *model.Builder, x model.Value) model.Value {
	product := gpu.Kernel{Kind: gpu.GEMM, Batch: 1, M: x.Rows, N: l.width, K: l.width, In: gpu.BF16, Out: gpu.BF16}
	y, kept := b.Tensor("out", x.Rows, l.width, 2), b.Tensor("kept", x.Rows, 1, 4)
	b.AddParameters(l.width*l.width, model.Replicated)
	b.Emit(model.Op{Name: "product", Kernel: product,
		Reads: []model.TensorID{x.ID}, Writes: []model.TensorID{y.ID, kept.ID}})
	b.Backward(func() {
		dx := b.Tensor("dx", x.Rows, x.Width, 2)
		b.Emit(model.Op{Name: "dgrad", Kernel: product, Phase: model.BackwardInput,
			Reads: []model.TensorID{b.Gradient(y).ID, kept.ID}, Writes: []model.TensorID{dx.ID}})
		b.Emit(model.Op{Name: "wgrad", Kernel: product, Phase: model.BackwardWeight,
			Reads: []model.TensorID{x.ID, b.Gradient(y).ID}})
		b.SetGradient(x, dx)
	})
	return y
}

// halve is another: it has no parameters, and what it hands on is half as wide.
type halve struct{ square }

func (halve) Parameters(*model.Config) int64 { return 0 }
func (halve) Work(*model.Config) model.Work  { return model.Work{} }
func (l halve) Forward(b *model.Builder, x model.Value) model.Value {
	n := x.Rows * x.Width
	y := b.Tensor("out", x.Rows, x.Width/2, 2)
	k := gpu.Kernel{Kind: gpu.Memory, Class: gpu.Elementwise, ReadBytes: 2 * n, WriteBytes: n}
	b.Emit(model.Op{Name: "halve", Kernel: k, Reads: []model.TensorID{x.ID}, Writes: []model.TensorID{y.ID}})
	b.Backward(func() {
		dx := b.Tensor("dx", x.Rows, x.Width, 2)
		b.Emit(model.Op{Name: "halve.bwd", Kernel: k, Phase: model.BackwardInput,
			Reads: []model.TensorID{b.Gradient(y).ID}, Writes: []model.TensorID{dx.ID}})
		b.SetGradient(x, dx)
	})
	return y
}

// squares is the family of their models: Layers of the one, one of the other, and
// as many narrow ones.
type squares struct{}

func (squares) Problems(*model.Config) []*input.Problem               { return nil }
func (squares) Misfits(*model.Config, *model.Layout) []*input.Problem { return nil }
func (squares) Stack(c *model.Config) model.Stack {
	wide, narrow := square{c.Hidden}, square{c.Hidden / 2}
	return model.Stack{Blocks: []model.Block{
		{Layer: wide, Count: c.Layers}, {Layer: halve{wide}, Count: 1}, {Layer: narrow, Count: c.Layers},
	}}
}

func init() { model.Register("squares", squares{}) }

// TestLayersOfAnotherKind runs a model of layers that the model package has never
// heard of: what they say of themselves is all that a job needs to know.
func TestLayersOfAnotherKind(t *testing.T) {
	const width, layers, tokens, microbatches = 2048, 3, 1024, 4
	c := jobtest.Small(t, job.Parallel{TP: 1, PP: 2, DP: 4, ZeRO: 1}, "1f1b", microbatches)
	c.Model = model.Config{Family: "squares", Layers: layers, Hidden: width, SeqLen: tokens}
	c.Schedule.LayersPerStage = []int{layers, layers + 1}
	res := run(t, c, step.Options{})

	first, second := int64(layers*width*width), int64(layers*width*width/4)
	assert.Equal(t, first+second, c.Model.Parameters())
	assert.Equal(t, float64(3*2*(first+second)*tokens*microbatches*4), res.Job.Work().ModelFLOPs)
	for s, b := range res.Stages {
		assert.Positive(t, b.Compute, "stage %d", s)
	}
	assert.Greater(t, res.Stages[0].Compute, res.Stages[1].Compute)

	// Each of a stage's layers keeps its input and four bytes a token, for two
	// micro-batches in flight on the first stage and one on the second; the layer
	// that halves keeps nothing.
	layer := func(width int64) int64 { return tokens * (2*width + 4) }
	assert.InEpsilon(t, 2*layers*layer(width), res.Memory[0].AtPeak[memory.Activations], 0.01)
	assert.InEpsilon(t, layers*layer(width/2), res.Memory[1].AtPeak[memory.Activations], 0.5)

	bytes := map[string]int64{}
	for _, x := range res.Comms {
		bytes[x.Group+" "+x.Collective] += x.Bytes
	}
	assert.Equal(
		t, int64(microbatches*tokens*width*2), bytes["pp send-recv"], "a rank hands over what its layers are wide",
	)
	assert.Equal(t, 4*first, bytes["dp reduce-scatter"])

	// A cut inside the narrow layers hands over half as much.
	c.Schedule.LayersPerStage = []int{layers + 2, layers - 1}
	for _, x := range run(t, c, step.Options{}).Comms {
		if x.Group == "pp" {
			assert.Equal(t, bytes["pp send-recv"]/2, x.Bytes)
		}
	}

	// Costs, folding and recomputation know no kinds either.
	c.Schedule.LayersPerStage, c.Schedule.FirstLastLayers = nil, "auto"
	c.Training.Recompute = "full"
	folded := run(t, c, step.Options{Fold: true})
	assert.Less(t, folded.RanksSimulated, folded.Job.Ranks())
	require.Positive(t, folded.Stages[0].Recompute)
}
