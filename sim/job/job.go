package job

import (
	"context"
	"fmt"

	"trainsim/interconnect"
	"trainsim/interconnect/nccl"
	"trainsim/schedule"
	"trainsim/sim/code"
	"trainsim/sim/model"
)

// Job is a Config made ready to run: the schedule, the code of every pipeline
// rank, the cluster and its communicators.
type Job struct {
	Config   *Config
	Spec     *model.Spec // the model as one rank and micro-batch see it
	Program  *schedule.Program
	Layers   []int // how many layers each global stage has
	Topology *interconnect.Topology
	NCCL     *nccl.Library
	Compiler *code.Compiler
	Stages   []Stage
	Messages int32 // of one pipeline in one phase

	DP      GradientGroup
	State   State // of a parameter
	Groups  []Group
	GroupOf [model.NumGroups][]int32 // by rank; -1: none

	optimizer Optimizer
	expertDP  GradientGroup // of experts, where they are apart
	peaks     Peaks
	runs      []model.Run        // layers of each global stage
	tpComm    *nccl.Communicator // of the first tensor-parallel group
	plans     map[nccl.Shape]*plans
	draws     *drawn      // nil if all sequences have the model's length
	lengths   [][][]int64 // draws.padded, nil if all micro-batches are of one length

	// Compiled code that is used again.
	chunks   map[model.Run]*code.Chunk
	pairs    map[[2]*code.Block]*code.Block
	byLength map[sizeKey]*code.Chunk // of other lengths than the model's
}

// Build makes the job of a validated Config.
//
// Which split of the layers takes the least memory (first_last_layers =
// "auto-memory") is the memory account's to say: peaks is its figure of a job. A
// build gives up with the error of the context when that is done.
func Build(ctx context.Context, c *Config, peaks Peaks) (*Job, error) {
	j := &Job{
		Config: c, peaks: peaks, chunks: make(map[model.Run]*code.Chunk),
		pairs: make(map[[2]*code.Block]*code.Block), byLength: make(map[sizeKey]*code.Chunk),
	}
	steps := []func() error{
		j.buildModel, j.buildTopology, func() error { return j.buildProgram(ctx) }, j.buildStages, j.buildGroups,
	}
	for _, f := range steps {
		if err := f(); err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return j, nil
}

func (j *Job) buildModel() error {
	c := j.Config
	if m := c.Misfits(); len(m) > 0 {
		return m[0]
	}
	spec, err := c.Spec()
	if err != nil {
		return err
	}
	j.optimizer, err = OptimizerState(c.Training.Optimizer, spec.Precision)
	if err != nil {
		return err
	}
	j.Spec, j.DP = spec, c.GradientGroup(spec)
	j.Compiler = code.NewCompiler(&c.GPU, c.Framework.Host, j.Ranks())
	j.Compiler.OneRankStages = c.Parallel.RanksPerStage() == 1
	return nil
}

// buildTopology builds the cluster.
func (j *Job) buildTopology() error {
	t, err := interconnect.Build(j.Config.Cluster)
	if err != nil {
		return err
	}
	j.Topology = t
	if have, want := t.Devices(), j.Ranks(); have != want {
		return fmt.Errorf("parallel: tp*cp*dp*pp = %d ranks, but the cluster has %d GPUs", want, have)
	}
	if j.NCCL, err = nccl.New(t, j.Config.NCCL); err != nil {
		return err
	}
	if tp := j.Config.Parallel.TP; tp > 1 {
		j.tpComm, err = j.NCCL.Communicator(nccl.AllReduce, nccl.First(tp))
	}
	return err
}
