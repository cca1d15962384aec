package measured

import (
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"trainsim/scenarios"
	"trainsim/sim/model"
	"trainsim/sim/step"
)

// RankMemory is what PyTorch counted on one rank of a job: a row of a table of
// rank memory.
type RankMemory struct {
	// ID is the file's name and the row's line, Family the model.
	ID, Family string
	// Rank is the global rank, Stage its pipeline rank.
	Rank, Stage int
	// Config is the rank's job, the same pointer for all ranks of a job; nil
	// where Skipped says why there is none.
	Config *step.Config
	// Allocated and Reserved are the rank's torch.cuda.max_memory_allocated and
	// max_memory_reserved in bytes, 0 where the table does not have them.
	Allocated, Reserved int64
	Skipped             string
}

// RankMemoryCluster is the machine of a table that names none: that of the only
// published table of this kind, SimuMax's jobs on eight B200.
const RankMemoryCluster = "hgx-b200"

var rankMemoryColumns = append([]runColumn{
	{"source", false, nil, "free text"},
	{"kind", false, nil, "free text"},
	{"provenance", false, nil, "free text"},
	{"notes", false, nil, "free text"},
	{"model", true, nil, "name of a model preset, separators aside"},
	{"layers", true, nil, "transformer layers; empty: the preset's"},
	{"seq", true, nil, "tokens of a sequence"},
	{"rank", true, nil, "global rank, from 0; tensor parallel varies fastest, then context, data and pipeline parallel"},
	{"pp_stage", false, nil, "the rank's pipeline rank, from 0; empty: that of the rank"},
	{"microbatches", true, nil, "micro-batches of a step and pipeline; empty: pp"},
	{"microbatch_size", false, nil, "sequences of a micro-batch; empty: 1"},
	{"max_allocated_mb", false, nil, "torch.cuda.max_memory_allocated in MiB"},
	{"max_reserved_mb", false, nil, "torch.cuda.max_memory_reserved in MiB"},
}, slices.Concat(ofRuns(true, "tp", "pp", "dp"), ofRuns(false, "cluster", "kv_heads", "cp", "ep", "etp", "dense_layers", "expert_capacity", "vpp", "fsdp", "sequence_parallel", "schedule", "first_last_layers", "recompute",
	"zero", "precision", "grad_precision", "attention", "dropout", "overlap_grad_reduce", "overlap_param_gather", "overlap_tp"))...)

// ofRuns returns columns of a table of runs.
func ofRuns(required bool, names ...string) []runColumn {
	var out []runColumn
	for _, c := range runColumns {
		if slices.Contains(names, c.name) {
			c.required = required
			out = append(out, c)
		}
	}
	return out
}

// IsRankMemory reports whether a CSV header is that of a table of rank memory.
func IsRankMemory(header []string) bool {
	h := newHeader(header)
	_, allocated := h.index["max_allocated_mb"]
	_, reserved := h.index["max_reserved_mb"]
	return allocated || reserved
}

// ReadRankMemory reads a table of the peak memory of single ranks. Columns that
// it lacks are a Megatron-Core job's: the distributed optimizer in bf16 with
// fp32 gradients, 1F1B over several stages, sequence parallel with tensor
// parallel, no recomputation. A cluster that is given here stands for all rows.
// A row that is wrong, or whose job cannot be run, has Skipped set.
func ReadRankMemory(r io.Reader, name, cluster string) ([]RankMemory, error) {
	c := csv.NewReader(r)
	c.FieldsPerRecord = -1
	record, err := c.Read()
	if err != nil {
		return nil, csvError(name, err)
	}
	h := newHeader(record)
	if err := h.check(name, c, rankMemoryColumns, "rank memory"); err != nil {
		return nil, err
	}
	t := rankMemoryTable{cluster: cluster, machines: machines{dir: filepath.Dir(name)}, jobs: map[string]*step.Config{}}
	var out []RankMemory
	err = eachRow(c, name, h, func(row *runRow) { out = append(out, t.row(row)) })
	if err != nil {
		return nil, err
	}
	return out, nil
}

// rankMemoryTable is what the rows of a table share.
type rankMemoryTable struct {
	cluster  string
	machines machines
	jobs     map[string]*step.Config // by the resolved scenario
}

func (t *rankMemoryTable) row(r *runRow) RankMemory {
	line, _ := r.place(0)
	out := RankMemory{ID: fmt.Sprintf("%s:%d", filepath.Base(r.file), line), Family: r.text("model"), Rank: r.index("rank")}
	out.Allocated, out.Reserved = r.mebibytes("max_allocated_mb"), r.mebibytes("max_reserved_mb")
	preset, err := t.machines.model(r.text("model"))
	if err != nil {
		r.skip("model", "%v", err)
		preset = &model.Config{}
	}
	r.preset, r.defaults = preset, t.defaults(r)
	cfg := r.config(&t.machines)
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
func (t *rankMemoryTable) defaults(r *runRow) map[string]string {
	d := map[string]string{
		"cluster": RankMemoryCluster, "schedule": "1f1b", "zero": "1", "precision": "bf16", "attention": string(model.Flash),
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
func (r *runRow) stage(p *step.Parallel, rank int) int {
	if rank >= p.World() {
		r.skip("rank", "%d is not a rank of %d GPUs; write 0 to %d", rank, p.World(), p.World()-1)
		return 0
	}
	stage := p.Coord(rank).PP
	if r.text("pp_stage") == "" {
		return stage
	}
	if given := r.index("pp_stage"); given != stage {
		r.skip("pp_stage", "rank %d of tp = %d, cp = %d, dp = %d, pp = %d is on pipeline rank %d, not %d; tensor parallel ranks vary fastest, then context, data and pipeline parallel", rank, p.TP, p.CP, p.DP, p.PP, stage, given)
	}
	return stage
}

// index reads a number that counts from 0.
func (r *runRow) index(column string) int {
	s := r.text(column)
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > maxCell {
		r.skip(column, "%q is not a number that counts from 0; write a whole number", s)
		return 0
	}
	return n
}

func (r *runRow) mebibytes(column string) int64 {
	return int64(min(r.measure(column), 1e12) * (1 << 20))
}

// shared returns the Config of an equal job that came before, else cfg.
func (t *rankMemoryTable) shared(cfg *step.Config) *step.Config {
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
