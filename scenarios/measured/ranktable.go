package measured

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"trainsim/scenarios"
	"trainsim/sim/input"
	"trainsim/sim/job"
	"trainsim/sim/model"
)

// rankMemoryTable is what the rows of a table share.
type rankMemoryTable struct {
	cluster string
	presets presets
	jobs    map[string]*job.Config // by the resolved scenario
}

func (t *rankMemoryTable) row(r *record) rankPeak {
	line, _ := r.place(0)
	out := rankPeak{ID: fmt.Sprintf("%s:%d", filepath.Base(r.file), line), Family: r.text("model"),
		Rank: r.index("rank")}
	out.Allocated, out.Reserved = r.mebibytes("max_allocated_mb"), r.mebibytes("max_reserved_mb")
	preset, err := t.presets.model(r.text("model"))
	if err != nil {
		r.skip("model", "%v", err)
		preset = &model.Config{}
	}
	r.preset, r.defaults = preset, t.defaults(r)
	cfg := r.config(&t.presets)
	if cfg != nil && r.skipped == "" {
		r.check(cfg)
	}
	if cfg != nil && r.skipped == "" {
		out.Stage = r.stage(&cfg.Parallel, out.Rank)
		out.Config = t.shared(cfg)
	}
	if out.Skipped = r.skipped; out.Skipped != "" {
		out.Config = nil
	}
	return out
}

// defaults returns what the cells that a row leaves empty stand for.
func (t *rankMemoryTable) defaults(r *record) map[string]string {
	d := map[string]string{
		"cluster": RankMemoryCluster, "schedule": "1f1b", "zero": "1", "precision": "bf16",
		"attention":       string(model.Flash),
		"microbatch_size": "1", "microbatches": r.text("pp"), "sequence_parallel": "1",
	}
	if t.cluster != "" {
		d["cluster"] = t.cluster
	}
	if r.text("pp") == "1" {
		d["schedule"] = "none"
	}
	if r.text("tp") == "1" {
		d["sequence_parallel"] = "0"
	}
	gpus := 1
	for _, column := range []string{"tp", "pp", "dp", "cp"} {
		otherwise := 0
		if column == "cp" {
			otherwise = 1
		}
		gpus = min(maxCell, gpus*r.count(column, otherwise))
	}
	d["gpus"] = strconv.Itoa(gpus)
	return d
}

// stage returns the rank's pipeline rank, which a column may give as well.
func (r *record) stage(p *job.Parallel, rank int) int {
	if rank >= p.World() {
		r.skip("rank", "%d is not a rank of %d GPUs; write 0 to %d", rank, p.World(), p.World()-1)
		return 0
	}
	stage := p.Coord(rank).PP
	if r.text("pp_stage") == "" {
		return stage
	}
	if given := r.index("pp_stage"); given != stage {
		r.skip("pp_stage", "rank %d of tp = %d, cp = %d, dp = %d, pp = %d is on pipeline rank %d, not %d; tensor "+
			"parallel ranks vary fastest, then context, data and pipeline parallel",
			rank, p.TP, p.CP, p.DP, p.PP, stage, given)
	}
	return stage
}

// index reads a number that counts from 0.
func (r *record) index(column string) int {
	s := r.text(column)
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > maxCell {
		r.skip(column, "%s is not a number that counts from 0; write a whole number", input.Quote(s))
		return 0
	}
	return n
}

func (r *record) mebibytes(column string) int64 {
	return int64(min(r.measure(column), 1e12) * (1 << 20))
}

// shared returns the Config of an equal job that came before, else cfg.
func (t *rankMemoryTable) shared(cfg *job.Config) *job.Config {
	var b strings.Builder
	if err := scenarios.Write(&b, cfg); err != nil {
		return cfg
	}
	if same, ok := t.jobs[b.String()]; ok {
		return same
	}
	t.jobs[b.String()] = cfg
	return cfg
}
