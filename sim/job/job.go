package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"trainsim/interconnect"
	"trainsim/interconnect/nccl"
	"trainsim/schedule"
	"trainsim/schedule/kinds"
	"trainsim/sim/code"
	"trainsim/sim/model"
)

// Job is a Config made ready to run: the schedule, the code of every pipeline
// rank, the cluster and its communicators.
type Job struct {
	Config   *Config
	Program  *schedule.Program
	Topology *interconnect.Topology
	NCCL     *nccl.Library
	Spec     *model.Spec // the model as one rank and micro-batch see it
	Layers   []int       // how many layers each global stage has

	DP        GradientGroup
	ExpertDP  GradientGroup // of experts, where they are apart
	Optimizer Optimizer
	State     State // of a parameter
	Compiler  *code.Compiler
	runs      []model.Run // layers of each global stage
	chunks    map[model.Run]*code.Chunk
	pairs     map[[2]*code.Block]*code.Block
	byLength  map[sizeKey]*code.Chunk // of other lengths than the model's
	draws     *drawn                  // nil if all sequences have the model's length
	lengths   [][][]int64             // draws.padded, nil if all micro-batches are of one length
	Stages    []Stage
	tpComm    *nccl.Communicator // of the first tensor-parallel group
	Groups    []Group
	peaks     Peaks
	GroupOf   [model.NumGroups][]int32 // by rank; -1: none
	plans     map[nccl.Shape]*plans
	Messages  int32 // of one pipeline in one phase
}

// Build makes the job of a validated Config.
//
// Which split of the layers takes the least memory (first_last_layers =
// "auto-memory") is the memory account's to say: peaks is its figure of a job.
func Build(c *Config, peaks Peaks) (*Job, error) {
	j := &Job{Config: c, peaks: peaks, chunks: make(map[model.Run]*code.Chunk), pairs: make(map[[2]*code.Block]*code.Block), byLength: make(map[sizeKey]*code.Chunk)}
	steps := []func() error{j.buildModel, j.buildTopology, j.buildProgram, j.buildStages, j.buildGroups}
	for _, f := range steps {
		if err := f(); err != nil {
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
	j.Optimizer, err = OptimizerState(c.Training.Optimizer, spec.Precision)
	if err != nil {
		return err
	}
	j.Spec, j.DP = spec, c.GradientGroup(spec)
	j.Compiler = code.NewCompiler(&c.GPU, c.Framework.Host, j.Ranks())
	j.Compiler.OneRankStages = c.Parallel.RanksPerStage() == 1
	return nil
}

// buildProgram asks package schedule for the lists of actions. The stages' costs,
// from which the order of some schedules follows, take the split of the layers,
// and that takes the program's stages alone.
func (j *Job) buildProgram() error {
	c := &j.Config.Schedule
	o := schedule.Options{
		Ranks: j.Config.Parallel.PP, Microbatches: c.Microbatches, VirtualStages: c.VirtualStages,
		GroupSize: c.GroupSize, MemoryCap: c.MemoryCap, Costs: schedule.UnitCosts(),
	}
	switch ScheduleName(c.Kind) {
	case "pipedream": // one update a mini-batch: fill, a warm step, the step, drain
		o.Microbatches = 2*c.Microbatches + 2*o.Ranks
	case "pipedream-2bw":
		o.Batches = 4
	}
	if c.Kind == "csv" {
		if err := j.readProgram(); err != nil {
			return err
		}
		return j.placeLayers()
	}
	k, err := kinds.Find(c.Kind)
	if err != nil {
		return err
	}
	if j.Program, err = k.Outline(o); err != nil {
		return err
	}
	if err := j.placeLayers(); err != nil {
		return err
	}
	if k.ByCosts {
		o.Costs, o.WeightShare = j.costs(j.Layers), j.weightShare(j.Layers[len(j.Layers)/2])
	}
	j.Program, err = k.Build(context.Background(), o)
	return err
}

// readProgram reads a schedule in CSV. Of one that deadlocks, the run shows how
// far it gets and who waits for whom.
func (j *Job) readProgram() (err error) {
	c := &j.Config.Schedule
	j.Program, err = schedule.ParseCSV(c.CSV, cmp.Or(c.File, "schedule.csv"))
	if err != nil && (j.Program == nil || !errors.Is(err, schedule.ErrDeadlock)) {
		return err
	}
	if n := j.Program.Ranks; n != j.Config.Parallel.PP {
		return fmt.Errorf("schedule: the schedule is for %d pipeline ranks, but parallel.pp = %d", n, j.Config.Parallel.PP)
	}
	return nil
}

// ScheduleName returns a schedule's own name for any of its names.
func ScheduleName(kind string) string {
	if k, err := kinds.Find(kind); err == nil {
		return k.Name
	}
	return kind
}

// placeLayers splits the layers over the program's stages.
func (j *Job) placeLayers() (err error) {
	pipes := int64(j.Program.Pipes())
	j.DP.Ranks = j.Config.Shards() * pipes
	j.ExpertDP = j.DP.OfExperts(j.Config)
	j.ExpertDP.Ranks *= pipes
	j.State = j.Config.State(j.Spec, j.Optimizer, j.DP.Ranks)
	if j.Layers, err = j.splitLayers(j.Program.Stages()); err != nil {
		return err
	}
	j.runs = j.Config.Model.Split(j.Layers)
	return nil
}

// splitLayers is Config.SplitLayers and what needs costs.
func (j *Job) splitLayers(stages int) ([]int, error) {
	if len(j.Config.Schedule.LayersPerStage) == 0 {
		switch j.Config.Schedule.FirstLastLayers {
		case "auto":
			return j.balanceTime(stages), nil
		case "auto-memory":
			return j.balanceMemory(j.balanceTime(stages))
		}
	}
	return j.Config.SplitLayers(stages)
}

// chunk returns the code of the chunk that holds a global stage.
func (j *Job) chunk(stage int, split bool) *code.Chunk {
	run := j.runs[stage]
	c, ok := j.chunks[run]
	if !ok {
		c = code.NewChunk(j.Spec.Build(run), split)
		j.chunks[run] = c
	}
	return c
}

// Ranks returns the number of ranks of the job.
func (j *Job) Ranks() int { return j.Config.Parallel.World() }

// Samples returns the sequences of one step over all replicas: the global batch.
func (c *Config) Samples() int64 {
	return int64(c.Schedule.Microbatches) * int64(c.Schedule.MicrobatchSize) * int64(c.Parallel.DP)
}

// Tokens returns the tokens of one step over all replicas.
func (c *Config) Tokens() int64 { return c.Samples() * c.Model.Tokens() }
