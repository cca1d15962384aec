package report

import (
	"context"
	"fmt"
	"sort"

	"trainsim/sim/account"
	"trainsim/sim/bound"
	"trainsim/sim/job"
)

// Fix is a change of settings that makes a job fit, proved by the account.
type Fix struct {
	Text   string
	Change map[string]any
	// Used is the fullest GPU's share of its memory.
	Used float64
	cost float64
}

// candidate is a change to try, with a rough relative cost of running so.
type candidate struct {
	key   string
	value any
	cost  float64
	apply func(*job.Config) bool // false: not possible
}

// Fixes returns up to three single changes, cheapest first, with which the
// job's memory fits: of each key the cheapest value. When the context is done, it
// returns those found so far.
func Fixes(ctx context.Context, c *job.Config) []Fix {
	var out []Fix
	found := map[string]bool{} // the values of a key follow by growing cost
	for _, t := range candidates(c) {
		if ctx.Err() != nil {
			break
		}
		v := *c
		if found[t.key] || !t.apply(&v) {
			continue
		}
		if used, ok := fits(ctx, &v); ok {
			found[t.key] = true
			out = append(out, Fix{Text: fmt.Sprintf("%s = %v (%.0f %% full)", t.key, quoted(t.value), 100*used),
				Change: map[string]any{t.key: t.value}, Used: used, cost: t.cost})
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].cost < out[j].cost })
	return out[:min(len(out), 3)]
}

func quoted(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("%q", v)
	case float64:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprint(v)
}

// mostMicrobatches is how many micro-batches a fix may ask for: the account
// replays each of them.
const mostMicrobatches = 1 << 12

// mostPrefetched is the largest prefetch that a fix tries: larger ones help little.
const mostPrefetched = 16

// candidates lists what an engineer would try, by growing cost.
func candidates(c *job.Config) []candidate {
	var out []candidate
	add := func(key string, value any, cost float64, apply func(*job.Config) bool) {
		out = append(out, candidate{key, value, cost, apply})
	}
	if !c.Parallel.SequenceParallel && c.Parallel.TP > 1 {
		add("parallel.sequence_parallel", true, 0.98,
			func(v *job.Config) bool { v.Parallel.SequenceParallel = true; return true })
	}
	for z := c.Parallel.ZeRO + 1; z <= 3 && c.Parallel.DP > 1; z++ {
		if z > 1 && c.Parallel.PP > 1 {
			break
		}
		add("parallel.zero", z, 1+0.02*float64(z*z), func(v *job.Config) bool { v.Parallel.ZeRO = z; return true })
	}
	if c.Parallel.ZeRO >= 2 && c.Parallel.FSDPGroup > 0 {
		add("parallel.fsdp_group", 0, 1.04, func(v *job.Config) bool { v.Parallel.FSDPGroup = 0; return true })
	}
	for _, f := range []int{2, 4, 8, 16} {
		if c.Model.MostEP() > 0 {
			add("parallel.ep", c.Parallel.EP*f, 0.99, func(v *job.Config) bool { v.Parallel.EP *= f; return true })
		}
	}
	if !c.Training.FP8ParamGather {
		add("training.fp8_param_gather", true, 0.97, (*job.Config).KeepFP8Weights)
	}
	out = append(out, memoryCandidates(c)...)
	if c.Training.Recompute == "none" || c.Training.Recompute == "" {
		add("training.recompute", "selective", 1.05,
			func(v *job.Config) bool { v.Training.Recompute = "selective"; return true })
	}
	if c.Training.Recompute != "full" {
		add("training.recompute", "full", 1.33,
			func(v *job.Config) bool { v.Training.Recompute = "full"; return true })
	}
	for ratio := 2; ratio <= c.Schedule.MicrobatchSize; ratio++ {
		b := c.Schedule.MicrobatchSize / ratio
		if c.Schedule.MicrobatchSize%ratio != 0 || c.Schedule.Microbatches > mostMicrobatches/ratio {
			continue
		}
		add("schedule.microbatch_size", b, 1.1, func(v *job.Config) bool {
			v.Schedule.Microbatches, v.Schedule.MicrobatchSize = v.Schedule.Microbatches*ratio, b
			return true
		})
	}
	for _, f := range []int{2, 4, 8} {
		addSplit(&out, c, f)
	}
	return out
}

// memoryCandidates lists what changes memory and no arithmetic of the step.
func memoryCandidates(c *job.Config) []candidate {
	var out []candidate
	add := func(key string, value any, cost float64, apply func(*job.Config)) {
		out = append(out, candidate{key, value, cost, func(v *job.Config) bool { apply(v); return true }})
	}
	if f := c.Memory.Fraction; f > 0 && f < 1 {
		add("memory.memory_fraction", 1.0, 0.89, func(v *job.Config) { v.Memory.Fraction = 1 })
	}
	if c.Memory.AllocConf == "" {
		add("memory.alloc_conf", "expandable_segments:True", 0.9,
			func(v *job.Config) { v.Memory.AllocConf = "expandable_segments:True" })
	}
	if d := c.Data; d.GPUPrefetch {
		for n := min(d.Prefetch-1, mostPrefetched); n >= 1; n-- {
			add("data.prefetch", n, 0.91, func(v *job.Config) { v.Data.Prefetch = n })
		}
		add("data.gpu_prefetch", false, 0.92, func(v *job.Config) { v.Data.GPUPrefetch = false })
	}
	if e := c.Evaluation; e.Batches > 0 {
		if e.KeepActivations {
			add("evaluation.keep_activations", false, 0.91,
				func(v *job.Config) { v.Evaluation.KeepActivations = false })
		}
		if size := c.EvaluationBatch(); size > 1 {
			add("evaluation.batch_size", size/2, 0.93, func(v *job.Config) { v.Evaluation.BatchSize = size / 2 })
		}
	}
	if c.Training.Optimizer == "adam" { // another optimizer, if nothing cheaper helps
		add("training.optimizer", "adam-8bit", 1.25, func(v *job.Config) { v.Training.Optimizer = "adam-8bit" })
	}
	if l := c.LoRA; l.Rank > 0 && l.Base != "4bit" {
		add("lora.base", "4bit", 1.3, func(v *job.Config) { v.LoRA.Base = "4bit" })
	}
	return out
}

// addSplit trades data parallelism for tensor or pipeline parallelism at the
// same global batch.
func addSplit(out *[]candidate, c *job.Config, f int) {
	trade := func(v *job.Config) bool {
		if v.Parallel.DP%f != 0 {
			return false
		}
		v.Parallel.DP /= f
		v.Schedule.Microbatches *= f
		return true
	}
	*out = append(*out, candidate{"parallel.tp", c.Parallel.TP * f, 1 + 0.1*float64(f), func(v *job.Config) bool {
		if v.Parallel.ETP == v.Parallel.TP { // what it is unless said otherwise
			v.Parallel.ETP *= f
		}
		v.Parallel.TP *= f
		return trade(v) && v.Parallel.TP <= v.Cluster.DomainSize()
	}})
	*out = append(*out, candidate{"parallel.pp", c.Parallel.PP * f, 1 + 0.15*float64(f), func(v *job.Config) bool {
		v.Parallel.PP *= f
		return trade(v) && v.Model.Depth()%v.Parallel.PP == 0 && len(v.Schedule.LayersPerStage) == 0
	}})
}

// fits runs the account of a configuration and returns the fullest GPU's share of
// its memory. Where weights, optimizer states and activations alone are too much,
// it says so without building the job.
func fits(ctx context.Context, c *job.Config) (used float64, ok bool) {
	if len(c.Misfits()) > 0 {
		return 0, false
	}
	if least, err := leastMemory(c); err == nil && least > int64(c.GPU.Memory) {
		return 0, false
	}
	j, err := job.Build(ctx, c, account.Peaks)
	if err != nil {
		return 0, false
	}
	accounts, err := account.Replay(ctx, j, false)
	if err != nil {
		return 0, false
	}
	for i := range accounts {
		m := &accounts[i]
		if !m.Fits() {
			return 0, false
		}
		used = max(used, float64(m.NvidiaSMI())/float64(m.Capacity))
	}
	return used, true
}

// leastMemory is a bound that the fullest GPU's memory is not below, found from a
// layer of each kind.
func leastMemory(c *job.Config) (int64, error) {
	least, err := bound.NewBounder(c).Bound(c)
	return least.Memory, err
}
