package report

import (
	"fmt"
	"slices"
	"strings"

	"trainsim/sim/report/quantity"
	"trainsim/sim/step"
)

// planSchema names the version of plan.json. A key is never renamed or dropped.
const planSchema = "trainsim.plan/v1"

// Plan is what a planner found.
type Plan struct {
	Schema   string      `json:"schema"`
	Version  string      `json:"trainsim_version"`
	Scenario string      `json:"scenario"`
	Batch    int64       `json:"global_batch"`
	Sizes    []PlanSize  `json:"sizes"`    // one a number of GPUs, ascending
	Scaling  []PlanScale `json:"scaling"`  // the front of step time against GPUs
	Settings []string    `json:"settings"` // keys that were chosen
}

// PlanSize is the result for one number of GPUs.
type PlanSize struct {
	GPUs    int         `json:"gpus"`
	Verdict string      `json:"verdict"`
	Best    []PlanEntry `json:"best"`  // the fastest that fit
	Front   []PlanEntry `json:"front"` // of step time against headroom; the fastest first
}

// PlanEntry is a layout with why it is where it is.
type PlanEntry struct {
	Rank int `json:"rank"` // from 1; 0 on the front behind the fastest
	SweepRow
	Headroom int64  `json:"headroom_bytes"`
	Why      string `json:"why"`
}

// PlanScale is the fastest layout of a number of GPUs that no smaller number
// beats. Efficiency is the throughput of a GPU relative to the fewest GPUs.
type PlanScale struct {
	GPUs       int     `json:"gpus"`
	StepTime   float64 `json:"step_time_s"`
	Efficiency float64 `json:"efficiency"`
}

// PlanGroup is what is left of the layouts of one number of GPUs.
type PlanGroup struct {
	GPUs  int
	Best  []SweepRow // the fastest that fit, by step time; at least one
	Front []SweepRow // by step time; each needs less memory than those before it
}

// meanStage returns where a step goes, as a mean over its stages.
func meanStage(res *step.Result) *StageTime {
	stages := make([]StageTime, len(res.Stages))
	for s, t := range res.Stages {
		stages[s] = stageTime(s, t, res.StepTime)
	}
	m := MeanTime(stages)
	m.Step = res.StepTime.Seconds()
	return &m
}

// NewPlan makes a plan of what is left of a scenario's layouts, by growing number
// of GPUs. Batch is the global batch in samples, keys those that were chosen.
func NewPlan(scenario string, batch int64, keys []string, groups []PlanGroup) *Plan {
	p := &Plan{Schema: planSchema, Version: Version, Scenario: scenario, Batch: batch, Sizes: []PlanSize{},
		Scaling: []PlanScale{}, Settings: keys}
	for i := range groups {
		p.Sizes = append(p.Sizes, groups[i].size())
		p.scale(&groups[i])
	}
	return p
}

// scale adds a number of GPUs to the front if it is faster than fewer.
func (p *Plan) scale(g *PlanGroup) {
	t := g.Best[0].StepTime
	if n := len(p.Scaling); n > 0 && p.Scaling[n-1].StepTime <= t {
		return
	}
	e := PlanScale{GPUs: g.GPUs, StepTime: t, Efficiency: 1}
	if len(p.Scaling) > 0 {
		first := &p.Scaling[0]
		e.Efficiency = first.StepTime * float64(first.GPUs) / (t * float64(g.GPUs))
	}
	p.Scaling = append(p.Scaling, e)
}

func (g *PlanGroup) size() PlanSize {
	out := PlanSize{GPUs: g.GPUs, Verdict: g.verdict()}
	for i, r := range g.Best {
		out.Best = append(out.Best, PlanEntry{Rank: i + 1, SweepRow: r, Headroom: r.Headroom(), Why: g.why(i)})
	}
	for i, r := range g.Front {
		e := PlanEntry{SweepRow: r, Headroom: r.Headroom(), Why: g.whyFront(i)}
		e.Rank = 1 + slices.IndexFunc(g.Best, func(b SweepRow) bool { return b.Point == r.Point })
		out.Front = append(out.Front, e)
	}
	return out
}

// why compares a layout with the fastest: the parts of the step that differ most.
func (g *PlanGroup) why(i int) string {
	first, r := &g.Best[0], &g.Best[i]
	if first.Mean == nil || r.Mean == nil {
		return ""
	}
	if i == 0 {
		return "the fastest: " + losses(r)
	}
	type delta struct {
		name string
		by   float64
	}
	var deltas []delta
	for _, p := range StageParts {
		deltas = append(deltas, delta{p.Name, *p.Of(r.Mean) - *p.Of(first.Mean)})
	}
	slices.SortStableFunc(deltas, func(a, b delta) int { return cmpFloat(abs(b.by), abs(a.by)) })
	var parts []string
	for _, d := range deltas[:2] {
		if abs(d.by) > 0.0005*first.StepTime {
			sign := "+"
			if d.by < 0 {
				sign = "-"
			}
			parts = append(parts, fmt.Sprintf("%s%s %s", sign, quantity.Seconds(abs(d.by)), d.name))
		}
	}
	if len(parts) == 0 {
		parts = []string{"the same to half a thousandth"}
	}
	return fmt.Sprintf("+%.1f %%: %s", 100*(r.StepTime/first.StepTime-1), strings.Join(parts, ", "))
}

// losses names the largest parts of a step that are not computation.
func losses(r *SweepRow) string {
	parts := slices.Clone(StageParts[1:])
	parts = slices.DeleteFunc(parts, func(p StagePart) bool { return *p.Of(r.Mean) < 0.002*r.StepTime })
	slices.SortStableFunc(parts, func(a, b StagePart) int { return cmpFloat(*b.Of(r.Mean), *a.Of(r.Mean)) })
	var out []string
	for _, p := range parts[:min(3, len(parts))] {
		out = append(out, fmt.Sprintf("%.1f %% %s", 100**p.Of(r.Mean)/r.StepTime, p.Name))
	}
	if len(out) == 0 {
		return "nothing but computation"
	}
	return "computation but for " + strings.Join(out, ", ")
}

func (g *PlanGroup) whyFront(i int) string {
	if i == 0 {
		return "the fastest"
	}
	before, r := &g.Front[i-1], &g.Front[i]
	return fmt.Sprintf("%.1f %% slower than the one before for %s more to spare", 100*(r.StepTime/before.StepTime-1),
		quantity.GiB(before.PeakMemory-r.PeakMemory))
}

func abs(x float64) float64 { return max(x, -x) }

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// nearEnough is how much slower plain data parallelism may be and still be the
// advice: fewer things to set up are worth that.
const nearEnough = 0.01

// verdict says whether the model needs to be split at all.
func (g *PlanGroup) verdict() string {
	best := &g.Best[0]
	if g.GPUs == 1 {
		return fmt.Sprintf("one GPU holds it all, with %s of %s to spare", quantity.GiB(best.Headroom()),
			quantity.GiB(best.Capacity))
	}
	for i := range g.Best {
		r := &g.Best[i]
		if r.StepTime > best.StepTime*(1+nearEnough) {
			break
		}
		s := r.Settings
		if s.Value("parallel.tp") != "1" || s.Value("parallel.pp") != "1" || s.Value("parallel.cp") != "1" {
			continue
		}
		room := fmt.Sprintf("everything fits with %s of %s to spare, and splitting layers or sequences only adds "+
			"communication", quantity.GiB(r.Headroom()), quantity.GiB(r.Capacity))
		switch s.Value("parallel.zero") {
		case "0":
			return "data parallel is enough: " + room
		case "1":
			return "data parallel is enough, with the optimizer state sharded (ZeRO-1): " + room
		}
		return "sharded data parallel (ZeRO-" + s.Value("parallel.zero") + ") is enough: " + room
	}
	return fmt.Sprintf("the model has to be split: the fastest layout is %s", LayoutLabel(best.Settings))
}

// LayoutLabel writes a layout in a few words, as in
// "TP4 PP2 DP8 ZeRO-1 SP, 16 x 1, 1f1b, recompute full".
func LayoutLabel(s Settings) string {
	var b strings.Builder
	for _, d := range []string{"tp", "cp", "pp", "dp", "ep"} {
		if v := s.Value("parallel." + d); v != "1" && v != "" {
			fmt.Fprintf(&b, "%s%s ", strings.ToUpper(d), v)
		}
	}
	if z := s.Value("parallel.zero"); z != "0" {
		fmt.Fprintf(&b, "ZeRO-%s ", z)
	}
	if s.Value("parallel.sequence_parallel") == "true" {
		b.WriteString("SP ")
	}
	if b.Len() == 0 {
		b.WriteString("one GPU ")
	}
	fmt.Fprintf(&b, "%s x %s", s.Value("schedule.microbatches"), s.Value("schedule.microbatch_size"))
	if s.Value("parallel.pp") != "1" {
		b.WriteString(" " + s.Value("schedule.kind"))
		if v := s.Value("schedule.virtual_stages"); v != "1" {
			b.WriteString(" v" + v)
		}
	}
	if r := s.Value("training.recompute"); r != "none" {
		b.WriteString(" recompute " + r)
	}
	return b.String()
}
