package measured

import (
	"strings"

	"trainsim/schedule/kinds"
	"trainsim/sim/job"
)

// schedule reads the pipeline schedule and how the layers are split.
func (r *record) schedule(cfg *job.Config) {
	s := &cfg.Schedule
	*s = job.Schedule{
		Microbatches: r.count("microbatches", 0), MicrobatchSize: r.count("microbatch_size", 0),
		FirstLastLayers: r.word("first_last_layers", "even"), VirtualStages: 1,
	}
	r.kind(s, cfg.Parallel.PP)
	if s.Kind == "interleaved" {
		s.VirtualStages = r.chunks(cfg)
	}
	r.splitLayers(cfg)
}

// kind reads the schedule's name. Plain 1F1B waits for each hand-off as
// Megatron-LM and DeepSpeed do; the other schedules overlap them.
func (r *record) kind(s *job.Schedule, pp int) {
	name := r.text("schedule")
	switch base, isAuto := strings.CutPrefix(name, "zb-auto-"); {
	case name == "none":
		if pp != 1 {
			r.skip("schedule", "\"none\" with pp = %d; write the pipeline schedule, as in 1f1b", pp)
		}
		s.Kind = "1f1b"
		return
	case isAuto && (base == "1p" || base == "2p"):
		s.Kind, s.MemoryCap = "zb-auto", int(base[0]-'0')*pp
		return
	}
	k, err := kinds.Find(name)
	if err != nil {
		r.skip("schedule", "%v", err)
		s.Kind = "1f1b"
		return
	}
	s.Kind, s.VirtualStages = k.Name, k.Chunks
	s.BlockingP2P = k.Name == "1f1b"
}

// chunks returns the chunks of an interleaved pipeline's rank: one makes no
// interleaving, so that it counts as not published, as an empty cell does. Then
// they are the most that divide the layers, which is one layer a chunk; where
// none divide them, one chunk of unequal size remains.
func (r *record) chunks(cfg *job.Config) int {
	if v := r.count("vpp", 1); v > 1 {
		return v
	}
	slots, pp := cfg.Model.Depth(), cfg.Parallel.PP
	if cfg.Schedule.FirstLastLayers != "even" {
		slots += 2
	}
	if slots%pp != 0 {
		return 1
	}
	return max(slots/pp, 1)
}

// maxStages is how many stages are split at all: jobs of more are refused.
const maxStages = 1 << 18

// splitLayers writes the stages out where they cannot be equal: systems then
// split the layers as evenly as it goes, and a stage of the embedding or the
// head alone has none.
func (r *record) splitLayers(cfg *job.Config) {
	s := &cfg.Schedule
	stages, layers := cfg.Parallel.PP*s.VirtualStages, cfg.Model.Depth()
	slots := layers
	if s.FirstLastLayers != "even" {
		slots += 2
	}
	if slots < stages || stages > maxStages || slots%stages == 0 && layers >= stages {
		return
	}
	split := *cfg
	if s.FirstLastLayers != "even" { // both leave room at the ends
		split.Schedule.FirstLastLayers = "embedding-balanced"
	}
	list, err := split.SplitLayers(stages)
	if err != nil {
		r.skip("first_last_layers", "%v", err)
		return
	}
	s.LayersPerStage = list
}
