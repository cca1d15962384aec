package report

import (
	"context"

	"trainsim/sim"
	"trainsim/sim/account"
	"trainsim/sim/step"
	"trainsim/sim/trace"
)

// newReport builds the report of a run. Scenario is the resolved scenario as it
// should stand in the JSON.
func newReport(ctx context.Context, res *step.Result, scenario any) *Report {
	c := res.Job.Config
	r := &Report{Schema: Schema, Version: Version, Scenario: scenario, Seed: c.Seed}
	r.StepTime = res.StepTime.Seconds()
	r.rates(res)
	r.phases(res)
	for s, t := range res.Stages {
		r.TimePerStage = append(r.TimePerStage, stageTime(s, t, res.StepTime))
	}
	r.Bubble = bubble(res)
	r.Faults = faults(res)
	r.MemoryPerStage = MemoryOf(res.Memory)
	for _, t := range res.Comms {
		r.Communication = append(r.Communication, Communication{
			Group: t.Group, Collective: t.Collective, Count: t.Count, Bytes: t.Bytes,
			Seconds: t.Seconds.Seconds(), Exposed: t.Exposed.Seconds(), Algorithm: t.Algorithm,
			Bottleneck: t.Bottleneck, BusBW: t.BusBandwidth,
		})
	}
	if len(res.Links) > 0 {
		r.Links = make([]Link, 0, len(res.Links))
	}
	for _, l := range res.Links {
		r.Links = append(r.Links, Link{Name: l.Name, Utilisation: l.Utilisation, Bytes: l.Bytes})
	}
	r.OOM = outOfMemory(res)
	r.Engine = Engine{Events: res.Events, RanksSimulated: res.RanksSimulated, RanksTotal: res.Job.Ranks()}
	r.Assumptions = assumptions(res.Job)
	r.Advice = advise(ctx, res, r)
	return r
}

// rates fills throughput and utilisation.
func (r *Report) rates(res *step.Result) {
	if res.StepTime <= 0 {
		return
	}
	c := res.Job.Config
	gpus, work := float64(res.Job.Ranks()), res.Job.Work()
	r.TokensPerS = work.Tokens / r.StepTime
	r.TokensPerSPerGPU = r.TokensPerS / gpus
	r.SamplesPerS = float64(c.Samples()) / r.StepTime
	spec := res.Job.Spec
	r.ModelTFLOPS = work.ModelFLOPs / r.StepTime / gpus / 1e12
	r.HardwareTFLOPS = (work.ModelFLOPs + work.RecomputedFLOPs) / r.StepTime / gpus / 1e12
	if peak := c.GPU.Peak(spec.Precision) / 1e12; peak > 0 {
		r.MFU, r.HFU = r.ModelTFLOPS/peak, r.HardwareTFLOPS/peak
	}
}

func stageTime(stage int, t step.StageTime, total sim.Time) StageTime {
	out := StageTime{
		Stage: stage, Compute: t.Compute.Seconds(), Recompute: t.Recompute.Seconds(), Host: t.Host.Seconds(),
		Optimizer: t.Optimizer.Seconds(), Bubble: (t.Warmup + t.Cooldown + t.Imbalance).Seconds(),
		Step: total.Seconds(),
	}
	for d, comm := range t.Comm {
		out.Comm[d] = comm.Seconds()
	}
	out.ExposedComm = t.Exposed().Seconds()
	return out
}

// bubble averages the pipeline's idle time over the stages: waiting for
// another stage, and for hand-offs in flight.
func bubble(res *step.Result) Bubble {
	var b Bubble
	var warm, cool, uneven, comm, straggler sim.Time
	n := sim.Time(len(res.Stages))
	for _, t := range res.Stages {
		idle := t.Warmup + t.Cooldown + t.Imbalance + t.Comm[trace.PP]
		b.PerStage = append(b.PerStage, idle.Seconds())
		warm, cool, uneven, comm = warm+t.Warmup, cool+t.Cooldown, uneven+t.Imbalance, comm+t.Comm[trace.PP]
	}
	straggler = costOfFaults(res, &warm, &cool, &uneven, &comm)
	share := func(t sim.Time) float64 { return t.Seconds() / float64(n) }
	b.Causes = Causes{Warmup: share(warm), Cooldown: share(cool), Imbalance: share(uneven),
		Communication: share(comm), Straggler: share(straggler)}
	b.Seconds = share(warm + cool + uneven + comm + straggler)
	b.Definitions = definitions(res.Stages)
	total := res.StepTime.Seconds()
	if total > 0 {
		b.OverTotal = b.Seconds / total
	}
	if busy := total - b.Seconds; busy > 0 {
		b.OverIdeal = b.Seconds / busy
	}
	return b
}

// faults compares the step with that of a healthy cluster.
func faults(res *step.Result) *Faults {
	if res.Healthy == nil {
		return nil
	}
	return &Faults{HealthyStep: res.HealthyStep.Seconds(), Cost: (res.StepTime - res.HealthyStep).Seconds()}
}

// costOfFaults moves what the idle times grew by through the scenario's faults
// to a cause of its own.
func costOfFaults(res *step.Result, causes ...*sim.Time) sim.Time {
	if res.Healthy == nil {
		return 0
	}
	healthy := make([]sim.Time, len(causes))
	for _, t := range res.Healthy {
		for i, x := range []sim.Time{t.Warmup, t.Cooldown, t.Imbalance, t.Comm[trace.PP]} {
			healthy[i] += x
		}
	}
	var cost sim.Time
	for i, c := range causes {
		if grown := *c - healthy[i]; grown > 0 {
			cost += grown
			*c = healthy[i]
		}
	}
	return cost
}

// definitions computes the measures that papers call the bubble.
func definitions(stages []step.StageTime) BubbleDefinitions {
	var d BubbleDefinitions
	first, last := stages[0].First, stages[0].Last
	var span, work sim.Time
	for _, t := range stages {
		first, last = min(first, t.First), max(last, t.Last)
		span = max(span, t.Last-t.First)
		work += t.Busy
	}
	mean := work.Seconds() / float64(len(stages))
	makespan := (last - first).Seconds()
	d.Makespan, d.Span = makespan-mean, span.Seconds()-mean
	if mean > 0 {
		d.OverIdeal = d.Makespan / mean
	}
	if makespan > 0 {
		d.OverTotal = d.Makespan / makespan
	}
	return d
}

// MemoryOf turns the step's memory accounts into the report's.
func MemoryOf(accounts []account.RankMemory) []StageMemory {
	var out []StageMemory
	for i := range accounts {
		m := &accounts[i]
		out = append(out, StageMemory{
			Stage: m.Stage, Rank: m.Rank, PeakAllocated: m.PeakAllocated, PeakReserved: m.PeakReserved,
			NvidiaSMI: m.NvidiaSMI(), Capacity: m.Capacity, Allowed: m.Allowed, Fits: m.Fits(), AtPeak: atPeak(m),
			PeakInEvaluation: m.PeakInEvaluation,
		})
	}
	return out
}

func atPeak(m *account.RankMemory) AtPeak {
	return AtPeak(m.Parts())
}

func outOfMemory(res *step.Result) *OOM {
	o := res.OOM
	if o == nil {
		return nil
	}
	m := &res.Memory[o.Stage]
	out := &OOM{Rank: o.Rank, Stage: o.Stage, At: res.OOMAt.Seconds(), Action: o.Action, Tensor: o.Tensor,
		Phase: o.Phase, Step: o.Step,
		Capacity: m.Capacity, Allowed: m.Allowed, Needed: m.NvidiaSMI(), AtPeak: atPeak(m)}
	if p := res.Job.Config.Prefetched(); p.Bytes() > 0 {
		out.Prefetched = &Prefetched{p.Bytes(), p.Workers, p.Batches, p.BatchBytes}
	}
	if e := o.Err; e != nil {
		out.Requested, out.Allocated, out.Reserved, out.Free = e.Requested, e.Allocated, e.Reserved, e.Free
		out.Idle, out.LargestIdle, out.IdlePieces, out.Outside = e.Unallocated, e.LargestIdle, e.IdleBlocks, e.External
	}
	return out
}
