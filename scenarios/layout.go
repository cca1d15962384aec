package scenarios

import (
	"errors"
	"fmt"

	"trainsim/schedule"
	"trainsim/schedule/kinds"
	"trainsim/sim/input"
	"trainsim/sim/job"
)

var degreeKeys = []string{"parallel.dp", "parallel.tp", "parallel.pp", "parallel.cp"}

// checkLayout compares the ranks of the layout with the GPUs of the cluster, and
// reports whether they are known to be the same.
func (l *loader) checkLayout(cfg *job.Config) (known bool) {
	p := &cfg.Parallel
	for _, key := range degreeKeys {
		if l.dec.isBad(key) {
			return false
		}
	}
	if p.FSDPGroup == 1 && p.ZeRO >= 2 && p.DP > 1 {
		l.problem("parallel.fsdp_group", []string{"parallel.zero"},
			"a group of 1 shards nothing; write zero = 0, or a group of %s", input.Divisors(p.DP)[3:])
	}
	if p.FSDPGroup > 0 && p.DP%p.FSDPGroup != 0 {
		l.problem("parallel.fsdp_group", []string{"parallel.dp"}, "%d does not divide dp = %d; write one of %s",
			p.FSDPGroup, p.DP, input.Divisors(p.DP))
	}
	if l.dec.isBad("cluster") || l.dec.isBad("cluster.nodes") || l.dec.isBad("cluster.gpus_per_node") {
		return false
	}
	gpus, ok := product(worldGPUs(cfg)...)
	if !ok || gpus == 0 {
		return false // the cluster's own checks say so
	}
	shard, ok := product(p.TP, p.PP, p.CP)
	if !ok || shard > gpus || gpus%max(shard, 1) != 0 {
		l.problem("parallel.tp", []string{"parallel.pp", "parallel.cp", "cluster.nodes"},
			"tp %d * pp %d * cp %d does not divide the %d GPUs of %d nodes; write degrees whose product divides %d, "+
				"or other nodes",
			p.TP, p.PP, p.CP, gpus, cfg.Cluster.Nodes, gpus)
		return false
	}
	world, ok := product(shard, p.DP)
	if !ok || world != gpus {
		l.problem("parallel.dp", append(degreeKeys[1:], "cluster.nodes"),
			"dp %d * tp %d * pp %d * cp %d is not the %d GPUs of %d nodes; write dp = %d, or leave dp out",
			p.DP, p.TP, p.PP, p.CP, gpus, cfg.Cluster.Nodes, gpus/shard)
		return false
	}
	return true
}

// checkMisfits checks that the ranks can share the model; of those of a stage only
// where the layout is known to be that of the cluster.
func (l *loader) checkMisfits(cfg *job.Config, known bool) {
	layout := cfg.ModelLayout()
	if !known {
		layout.Stage = 0
	}
	if l.dec.isBad("model") || l.dec.isBad("parallel.tp") || l.dec.isBad("parallel.cp") || layout.TP < 1 ||
		layout.CP < 1 {
		return
	}
	for _, m := range cfg.Model.Misfits(&layout) {
		l.problem(m.Key, m.Others(), "%s", m.Text)
	}
}

// checkStages checks that the layers can be split over the stages of the
// schedule's program.
func (l *loader) checkStages(cfg *job.Config, stages int) {
	s, layers := &cfg.Schedule, cfg.Model.Depth()
	inputs := []string{"schedule.virtual_stages", "model.layers"}
	switch {
	case layers < 1 || l.dec.isBad("model"):
		return
	case len(s.LayersPerStage) > 0:
		l.checkLayersPerStage(s, stages, layers)
		return
	case layers < stages:
		l.problem("parallel.pp", inputs,
			"%d stages are more than the model's %d layers; write a smaller pp or virtual_stages", stages, layers)
		return
	}
	slots := layers
	switch s.FirstLastLayers {
	case "auto", "auto-memory":
		return
	case "embedding-balanced", "one-fewer-each":
		slots = layers + 2
	}
	if slots%stages != 0 {
		l.problem("parallel.pp", append(inputs, "schedule.first_last_layers"),
			"%d stages do not divide %s; write a pp and virtual_stages that do, first_last_layers = \"auto\", or "+
				"layers_per_stage", stages, slotText(layers, slots))
	}
}

func slotText(layers, slots int) string {
	if layers == slots {
		return fmt.Sprintf("the model's %d layers", layers)
	}
	return fmt.Sprintf("the model's %d layers and two more for embedding and head", layers)
}

func (l *loader) checkLayersPerStage(s *job.Schedule, stages, layers int) {
	key := "schedule.layers_per_stage"
	if n := len(s.LayersPerStage); n != stages {
		l.problem(key, []string{"parallel.pp"}, "lists %d stages, the pipeline has %d; write one number for each", n,
			stages)
		return
	}
	sum := 0
	for _, n := range s.LayersPerStage {
		sum += n
	}
	if sum != layers {
		l.problem(key, []string{"model.layers"},
			"adds up to %d layers, the model has %d; write numbers that add up to it", sum, layers)
	}
}

// maxActions is how many forwards of one micro-batch on one chunk a pipeline
// may have: the largest published runs have a tenth of it.
const maxActions = 1 << 18

// checkSchedule builds the schedule, which knows what counts it takes, and then
// compares its stages with the layers.
func (l *loader) checkSchedule(cfg *job.Config) {
	s := &cfg.Schedule
	for _, k := range []string{"kind", "microbatches", "virtual_stages", "group_size", "memory_cap", "file", "csv"} {
		if l.dec.isBad("schedule." + k) {
			return
		}
	}
	if l.dec.isBad("parallel.pp") {
		return
	}
	if n, ok := product(cfg.Parallel.PP, s.Microbatches, s.VirtualStages); !ok || n > maxActions {
		l.problem("schedule.microbatches", []string{"parallel.pp", "schedule.virtual_stages"},
			"%d micro-batches on %d ranks of %d chunks are too many to simulate; write smaller counts (up to %d "+
				"forwards together)",
			s.Microbatches, cfg.Parallel.PP, s.VirtualStages, maxActions)
		return
	}
	var p *schedule.Program
	if s.Kind == "csv" {
		p = l.readCSV(cfg)
	} else {
		p = l.buildSchedule(cfg)
	}
	if p != nil {
		l.checkStages(cfg, p.Stages())
	}
}

// buildSchedule makes the program of a named schedule, without its lists; nil when
// it cannot be.
func (l *loader) buildSchedule(cfg *job.Config) *schedule.Program {
	s := &cfg.Schedule
	k, err := kinds.Find(s.Kind)
	if err != nil {
		var names []string
		for _, k := range kinds.All() {
			names = append(names, k.Name)
		}
		l.problem("schedule.kind", nil, "there is no schedule %s; %s (trainsim list schedules)", input.Quote(s.Kind),
			input.DidYouMean(s.Kind, append(names, "csv")))
		return nil
	}
	p, err := k.Outline(schedule.Options{
		Ranks: cfg.Parallel.PP, Microbatches: s.Microbatches, VirtualStages: s.VirtualStages,
		GroupSize: s.GroupSize, MemoryCap: s.MemoryCap,
	})
	if err == nil {
		return p
	}
	key := "schedule.microbatches"
	var count *schedule.CountError
	if errors.As(err, &count) {
		if k, ok := countKeys[count.Count]; ok {
			key = k
		}
	}
	l.problem(key, []string{"schedule.microbatches", "schedule.kind", "parallel.pp"}, "%v", err)
	return nil
}

// countKeys gives the key of a count that a schedule refuses.
var countKeys = map[string]string{
	"microbatches": "schedule.microbatches", "ranks": "parallel.pp", "virtual stages": "schedule.virtual_stages",
	"group size": "schedule.group_size", "memory cap": "schedule.memory_cap",
}

// readCSV reads a schedule that came as text and compares it with the layout.
func (l *loader) readCSV(cfg *job.Config) *schedule.Program {
	s, key, name := &cfg.Schedule, "schedule.file", cfg.Schedule.File
	if name == "" {
		key, name = "schedule.csv", "schedule.csv"
	}
	inputs := []string{key}
	if s.CSV == "" {
		l.problem("schedule.kind", inputs, "\"csv\" needs a schedule; write file = \"schedule.csv\"")
		return nil
	}
	p, err := schedule.ParseCSV(s.CSV, name)
	switch {
	case p == nil && errors.Is(err, schedule.ErrDeadlock): // valid, but no rank could run it
		return nil
	case p == nil:
		l.problem(key, nil, "%v", err)
		return nil
	case p.Ranks != cfg.Parallel.PP:
		l.problem("parallel.pp", inputs, "%d is not the %d ranks of %s; write pp = %d", cfg.Parallel.PP, p.Ranks, name,
			p.Ranks)
		return nil
	case p.Microbatches != s.Microbatches:
		l.problem("schedule.microbatches", inputs, "%d is not the %d micro-batches of %s; write microbatches = %d",
			s.Microbatches, p.Microbatches, name, p.Microbatches)
	}
	return p
}
