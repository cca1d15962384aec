package search

import (
	"slices"
	"strconv"

	"trainsim/sim/job"
	"trainsim/sim/report"
)

// Layout is what a planner chooses for a job: how it is spread over the GPUs and
// how its batch is cut.
type Layout struct {
	Nodes            int
	TP, PP, DP, CP   int
	EP               int
	Kind             string
	VirtualStages    int
	Microbatches     int
	MicrobatchSize   int
	Recompute        string
	ZeRO             int
	SequenceParallel bool
}

// planKeys are the keys that a layout sets, in the order of Layout.Values.
var planKeys = []string{
	"cluster.nodes", "parallel.tp", "parallel.pp", "parallel.dp", "parallel.cp", "parallel.ep", "schedule.kind",
	"schedule.virtual_stages", "schedule.microbatches", "schedule.microbatch_size", "training.recompute",
	"parallel.zero", "parallel.sequence_parallel",
}

// PlanKeys returns the keys that a layout sets, in the order of [Layout.Values].
func PlanKeys() []string { return slices.Clone(planKeys) }

// Values returns what the layout sets [PlanKeys] to.
func (l *Layout) Values() []string {
	n := strconv.Itoa
	return []string{n(l.Nodes), n(l.TP), n(l.PP), n(l.DP), n(l.CP), n(l.EP), l.Kind, n(l.VirtualStages),
		n(l.Microbatches), n(l.MicrobatchSize), l.Recompute, n(l.ZeRO), strconv.FormatBool(l.SequenceParallel)}
}

// settings are the values with their keys.
func (l *Layout) settings() report.Settings {
	out := make(report.Settings, len(planKeys))
	for i, v := range l.Values() {
		out[i] = report.Setting{Key: planKeys[i], Value: v}
	}
	return out
}

// Apply returns the job with the layout in place of its own.
func (l *Layout) Apply(base *job.Config) *job.Config {
	c := *base
	c.Cluster.Nodes = l.Nodes
	p, s := &c.Parallel, &c.Schedule
	p.TP, p.PP, p.DP, p.CP, p.ZeRO, p.SequenceParallel = l.TP, l.PP, l.DP, l.CP, l.ZeRO, l.SequenceParallel
	p.EP, p.ETP = l.EP, l.TP
	if c.Model.MostEP() > 0 {
		p.ETP = 1 // narrow experts are not worth cutting
	}
	s.Kind, s.VirtualStages = l.Kind, l.VirtualStages
	s.Microbatches, s.MicrobatchSize = l.Microbatches, l.MicrobatchSize
	s.LayersPerStage = nil
	if l.PP == 1 || l.Kind != "1f1b" {
		s.BlockingP2P = false // only the plain schedule's order can block
	}
	if p.FSDPGroup > 0 && (l.ZeRO < 2 || l.DP%p.FSDPGroup != 0) {
		p.FSDPGroup = 0
	}
	c.Training.Recompute = l.Recompute
	return &c
}
