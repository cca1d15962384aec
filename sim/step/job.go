package step

import (
	"context"
	"fmt"
	"strings"

	"trainsim/interconnect"
	"trainsim/interconnect/nccl"
	"trainsim/schedule"
	"trainsim/schedule/kinds"
	"trainsim/sim/model"
)

// Job is a Config made ready to run: the schedule, the code of every pipeline
// rank, the cluster and its communicators.
type Job struct {
	Config   *Config
	Program  *schedule.Program
	Topology *interconnect.Topology
	nccl     *nccl.Library

	spec     *model.Spec
	dp       dataParallel
	expertDP dataParallel // of experts, where they are apart
	opt      Optimizer
	compiler *compiler
	layers   []int // by global stage
	shapes   map[chunkShape]*chunkCode
	pairs    map[[2]*block]*block
	sizes    map[sizeKey]*chunkCode // of other lengths than the model's
	draws    *drawn                 // nil if all sequences have the model's length
	lengths  [][][]int64            // draws.padded, nil if all micro-batches are of one length
	stages   []stage
	tpComm   *nccl.Communicator // of the first tensor-parallel group
	groups   []group
	groupOf  [model.NumGroups][]int32 // by rank; -1: none
	messages int32                    // of one pipeline in one phase
}

// chunkShape is what makes two chunks run the same code.
type chunkShape struct {
	layers      int
	dense       int // of them without experts, the first ones
	first, last bool
}

// stage is what the ranks of one pipeline rank share.
type stage struct {
	chunks       []*chunkCode
	script       []action
	evaluation   []action  // behind the step
	gradElements int64     // parameters with a gradient on the rank
	ownElements  int64     // parameters whose optimizer state the rank holds
	tied         int64     // parameters of an embedding that another stage shares
	gathers      [][]int64 // by group of replicas: sizes of the parameter gathers, in order
	updateCode   *block
}

// Build makes the job of a validated Config.
func Build(c *Config) (*Job, error) {
	j := &Job{Config: c, shapes: make(map[chunkShape]*chunkCode), pairs: make(map[[2]*block]*block), sizes: make(map[sizeKey]*chunkCode)}
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
	if key, text := c.ExpertProblem(); key != "" {
		return fmt.Errorf("%s: %s", key, text)
	}
	spec, err := c.spec()
	if err != nil {
		return err
	}
	host, err := c.hostCosts()
	if err != nil {
		return err
	}
	j.opt, err = OptimizerState(c.Training.Optimizer, spec.Precision)
	if err != nil {
		return err
	}
	j.spec, j.dp = spec, c.dataParallel(spec)
	j.compiler = newCompiler(&c.GPU, host, j.Ranks())
	j.compiler.single = c.Parallel.columns() == 1
	return nil
}

// buildProgram asks package schedule for the lists of actions. Schedules whose
// order depends on costs are built once more when the stages' costs are known.
func (j *Job) buildProgram() error {
	c := &j.Config.Schedule
	o := schedule.Options{
		Ranks: j.Config.Parallel.PP, Microbatches: c.Microbatches, VirtualStages: c.VirtualStages,
		GroupSize: c.GroupSize, MemoryCap: c.MemoryCap, Costs: schedule.UnitCosts(),
	}
	kind := canonical(c.Kind)
	switch kind {
	case "pipedream": // one update a mini-batch: fill, a warm step, the step, drain
		o.Microbatches = 2*c.Microbatches + 2*o.Ranks
	case "pipedream-2bw":
		o.Batches = 4
	}
	if err := j.makeProgram(o); err != nil {
		return err
	}
	if costDependent[kind] {
		o.Costs, o.WeightShare = j.costs(j.layers), j.weightShare(j.layers[len(j.layers)/2])
		return j.makeProgram(o)
	}
	return nil
}

// costDependent lists the schedules whose order of actions follows from costs.
var costDependent = map[string]bool{
	"zb-auto": true, "zb-v-auto": true, "v-adaptive": true, "grouped-interleaved": true,
}

// canonical returns a schedule's own name for any of its names.
func canonical(kind string) string {
	if k, err := kinds.Find(kind); err == nil {
		return k.Name
	}
	return kind
}

// makeProgram builds or reads the program and splits the layers over its stages.
func (j *Job) makeProgram(o schedule.Options) error {
	c := &j.Config.Schedule
	var err error
	if c.Kind == "csv" {
		j.Program, err = schedule.ParseCSV(strings.NewReader(c.CSV), c.File)
	} else {
		j.Program, err = kinds.Build(context.Background(), c.Kind, o)
	}
	if err != nil {
		return err
	}
	if j.Program.Ranks != j.Config.Parallel.PP {
		return fmt.Errorf("schedule: the schedule is for %d pipeline ranks, but parallel.pp = %d", j.Program.Ranks, j.Config.Parallel.PP)
	}
	pipes := int64(j.Program.Pipes())
	j.dp.ranks = j.Config.shards() * pipes
	j.expertDP = j.dp.ofExperts(j.Config)
	j.expertDP.ranks *= pipes
	j.layers, err = j.splitLayers(j.Program.Stages())
	return err
}

// splitLayers is Config.SplitLayers and what needs costs.
func (j *Job) splitLayers(stages int) ([]int, error) {
	if len(j.Config.Schedule.LayersPerStage) == 0 {
		switch j.Config.Schedule.FirstLastLayers {
		case "auto":
			return j.balanceTime(stages), nil
		case "auto-memory":
			return j.Config.balanceMemory(j.balanceTime(stages))
		}
	}
	return j.Config.SplitLayers(stages)
}

// chunk returns the code of the chunk that holds a global stage.
func (j *Job) chunk(stage int, split bool) *chunkCode {
	shape := j.shape(stage, j.layers)
	cc, ok := j.shapes[shape]
	if !ok {
		cc = newChunkCode(shape, j.build(j.spec, shape), split)
		j.shapes[shape] = cc
	}
	return cc
}

// build makes the chunk of a shape.
func (j *Job) build(spec *model.Spec, shape chunkShape) *model.Chunk {
	return spec.Build(j.firstLayer(shape), shape.layers, shape.first, shape.last)
}

// Ranks returns the number of ranks of the job.
func (j *Job) Ranks() int { return j.Config.Parallel.World() }

// Layers returns the number of transformer layers of each global stage.
func (j *Job) Layers() []int { return j.layers }

// Spec returns the model as one rank and micro-batch see it.
func (j *Job) Spec() *model.Spec { return j.spec }

// Samples returns the sequences of one step over all replicas: the global batch.
func (c *Config) Samples() int64 {
	return int64(c.Schedule.Microbatches) * int64(c.Schedule.MicrobatchSize) * int64(c.Parallel.DP)
}

// Tokens returns the tokens of one step over all replicas.
func (c *Config) Tokens() int64 { return c.Samples() * c.Model.SeqLen }
