package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"trainsim/schedule"
	"trainsim/schedule/kinds"
)

// buildProgram asks package schedule for the lists of actions. The stages' costs,
// from which the order of some schedules follows, take the split of the layers,
// and that takes the program's stages alone.
func (j *Job) buildProgram(ctx context.Context) error {
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
		return j.placeLayers(ctx)
	}
	k, err := kinds.Find(c.Kind)
	if err != nil {
		return err
	}
	if j.Program, err = k.Outline(o); err != nil {
		return err
	}
	if err := j.placeLayers(ctx); err != nil {
		return err
	}
	if k.ByCosts {
		o.Costs, o.WeightShare = j.costs(j.Layers), j.weightShare(j.Layers[len(j.Layers)/2])
	}
	j.Program, err = k.Build(ctx, o)
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
		return fmt.Errorf(
			"schedule: the schedule is for %d pipeline ranks, but parallel.pp = %d", n, j.Config.Parallel.PP,
		)
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
func (j *Job) placeLayers(ctx context.Context) (err error) {
	pipes := int64(j.Program.Pipes())
	j.DP.Ranks = j.Config.Shards() * pipes
	j.expertDP = j.DP.OfExperts(j.Config)
	j.expertDP.Ranks *= pipes
	j.State = j.Config.State(j.Spec, j.optimizer, j.DP.Ranks)
	if j.Layers, err = j.splitLayers(ctx, j.Program.Stages()); err != nil {
		return err
	}
	j.runs = j.Config.Model.Split(j.Layers)
	return nil
}

// splitLayers is Config.SplitLayers and what needs costs.
func (j *Job) splitLayers(ctx context.Context, stages int) ([]int, error) {
	if len(j.Config.Schedule.LayersPerStage) == 0 {
		switch j.Config.Schedule.FirstLastLayers {
		case "auto":
			return j.balanceTime(stages), nil
		case "auto-memory":
			return j.balanceMemory(ctx, j.balanceTime(stages))
		}
	}
	return j.Config.SplitLayers(stages)
}
