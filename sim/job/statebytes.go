package job

import (
	"trainsim/sim/gpu"
)

// StateBytes is what training keeps for one parameter on one rank, in bytes.
type StateBytes struct {
	Weights, Gradients float64
	// MainGrads is the fp32 copy that 16-bit gradients become for the
	// optimizer's step; it is gone behind it.
	MainGrads float64
	// Master and States are the optimizer's.
	Master, States float64
}

// StateOf returns the bytes for one parameter under ZeRO stage zero over a
// number of ranks: stage 1 spreads what the optimizer has, stage 2 gradients
// too, stage 3 all (Rajbhandari et al. 2020, arXiv 1910.02054, section 5, with
// K = Master + States). Megatron-LM's distributed optimizer is stage 1 with the
// fp32 gradients counted (its documentation's table).
func StateOf(precision, grads gpu.Dtype, o Optimizer, zero int, ranks int64) StateBytes {
	b := StateBytes{Weights: float64(precision.Bytes()), Gradients: float64(grads.Bytes()), Master: float64(o.Master), States: float64(o.States)}
	if precision == gpu.FP8 {
		b.Weights = 2
	}
	if o.Master > 0 && grads.Bytes() < 4 {
		b.MainGrads = 4
	}
	d := float64(max(1, ranks))
	if zero >= 1 {
		b.MainGrads, b.Master, b.States = b.MainGrads/d, b.Master/d, b.States/d
	}
	if zero >= 2 {
		b.Gradients /= d
	}
	if zero >= 3 {
		b.Weights /= d
	}
	return b
}

// Kept returns the bytes that stay from step to step.
func (b StateBytes) Kept() float64 { return b.Weights + b.Gradients + b.Master + b.States }

// Sum returns the bytes during the optimizer's step.
func (b StateBytes) Sum() float64 { return b.Kept() + b.MainGrads }

// optimizers lists the values of training.optimizer.
var optimizers = []string{"adam", "sgd", "sgd-momentum", "adam-8bit", "adafactor"}

// OptimizerBytes is what a parameter holds on a rank under an optimizer.
type OptimizerBytes struct {
	Optimizer string
	StateBytes
}

// OptimizerTable returns the bytes a parameter of the job under every
// optimizer. FSDP's shards of weights, gradients and states are in fp32, so that
// the weights are their own masters.
func (j *Job) OptimizerTable() ([]OptimizerBytes, error) {
	c := j.Config
	var out []OptimizerBytes
	for _, kind := range optimizers {
		o, err := OptimizerState(kind, j.Spec.Precision)
		if err != nil {
			return nil, err
		}
		b := StateOf(j.Spec.Precision, j.Spec.GradDtype, o, c.Parallel.ZeRO, j.DP.Ranks)
		if c.StateLayout() == ShardedLayout {
			d := float64(c.Shards())
			b = StateBytes{Weights: 4 / d, Gradients: 4 / d, States: float64(o.States) / d}
		}
		out = append(out, OptimizerBytes{kind, b})
	}
	return out, nil
}
