package job

import (
	"fmt"

	"trainsim/sim/gpu"
)

// OptimizerBytes is what a parameter holds on a rank under an optimizer.
type OptimizerBytes struct {
	Optimizer string
	StateBytes
}

// OptimizerTable returns the bytes a parameter of the job under every
// optimizer.
func (j *Job) OptimizerTable() ([]OptimizerBytes, error) {
	var out []OptimizerBytes
	for _, kind := range optimizers {
		o, err := OptimizerState(kind, j.Spec.Precision)
		if err != nil {
			return nil, err
		}
		s := j.Config.State(j.Spec, o, j.DP.Ranks)
		ranks := j.DP.Ranks
		if s.Layout == ShardedStates {
			ranks = j.Config.Shards()
		}
		out = append(out, OptimizerBytes{kind, s.Mean(ranks)})
	}
	return out, nil
}

// optimizers lists the values of training.optimizer.
var optimizers = []string{"adam", "sgd", "sgd-momentum", "adam-8bit", "adafactor"}

// Optimizer is what an optimizer keeps and moves for each parameter, in bytes.
type Optimizer struct {
	// master is the fp32 copy of the weights that training in 16 bits keeps.
	master int64
	// states is all other state: momentum, variance.
	states int64
	// moments is how many tensors the states of a parameter are.
	moments int
}

// OptimizerState returns the optimizer's bytes a parameter. States follow the
// optimizers' definitions: Adam two fp32 moments; SGD none, with momentum one
// fp32 buffer; 8-bit Adam (Dettmers et al. 2022, arXiv 2110.02861) two 1-byte
// moments, their block-wise scales are 1/512 of that; Adafactor (Shazeer and
// Stern 2018) row and column sums only, counted as none a parameter.
func OptimizerState(kind string, precision gpu.Dtype) (Optimizer, error) {
	var o Optimizer
	if precision.Bytes() < 4 {
		o.master = 4
	}
	switch kind {
	case "", "adam":
		o.states, o.moments = 8, 2
	case "sgd-momentum":
		o.states, o.moments = 4, 1
	case "adam-8bit":
		o.states, o.moments = 2, 2
	case "sgd", "adafactor":
	default:
		return o, fmt.Errorf("optimizer %q is unknown; write adam, sgd, sgd-momentum, adam-8bit or adafactor", kind)
	}
	return o, nil
}
