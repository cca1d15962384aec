package step

import (
	"trainsim/sim"
	"trainsim/sim/account"
	"trainsim/sim/job"
	"trainsim/sim/trace"
)

// Result is what a run did.
type Result struct {
	Job      *job.Job
	StepTime sim.Time
	Stages   []StageTime // of one rank of each pipeline rank
	// Steps are the training steps where sequences differ in length, nil
	// otherwise. The first warms up; StepTime, Stages, Comms and Links are means
	// over the others. Evaluations are those after the steps.
	Steps, Evaluations []Window
	// Healthy and HealthyStep are the same without the scenario's faults; nil
	// when it has none.
	Healthy     []StageTime
	HealthyStep sim.Time
	Memory      []account.RankMemory
	OOM         *account.OOM // the first allocation that failed, nil if all fit
	OOMAt       sim.Time     // when it failed
	Comms       []CommTotal
	Links       []LinkTotal
	Recording   *trace.Recording
	Events      uint64
	// RanksSimulated is how many ranks were actors of their own.
	RanksSimulated int
}

// StageTime is where a stage's step went. The times add up to the step.
type StageTime struct {
	Compute, Recompute, Host sim.Time
	Comm                     [trace.NumDimensions]sim.Time // exposed, of each dimension
	Optimizer                sim.Time
	// Warmup, Cooldown and Imbalance are the pipeline's idle time by phase.
	Warmup, Cooldown, Imbalance sim.Time
	// First and Last are when the stage's first action of a micro-batch began
	// and its last one ended, Busy what its actions took, hand-offs aside.
	First, Last, Busy sim.Time
}

// Exposed returns the exposed communication of all dimensions.
func (t *StageTime) Exposed() sim.Time {
	var sum sim.Time
	for _, comm := range t.Comm {
		sum += comm
	}
	return sum
}

// parts lists the times that add up to the step.
func (t *StageTime) parts() []*sim.Time {
	out := []*sim.Time{&t.Compute, &t.Recompute, &t.Host, &t.Optimizer, &t.Warmup, &t.Cooldown, &t.Imbalance}
	for d := range t.Comm {
		out = append(out, &t.Comm[d])
	}
	return out
}

// CommTotal sums one kind of collective over one kind of group, for the rank
// that spent most time in it. Exposed is what is booked to the group's dimension
// while the rank waits for them: peers that are late and changes of stream
// included, waiting for other stages not.
type CommTotal struct {
	Group            string
	Collective       string
	Count, Bytes     int64
	Seconds, Exposed sim.Time
	Algorithm        string
	Bottleneck       string
	BusBandwidth     float64 // bytes a second
}

// LinkTotal is a link's use over the step.
type LinkTotal struct {
	Name        string
	Bytes       int64
	Utilisation float64
}

// Window is a phase of a run: when it began and ended, and how long it is. An
// asynchronous schedule's step is a part of its window.
type Window struct{ Start, End, Time sim.Time }

func (m *machine) result() *Result {
	j := m.job
	r := &Result{
		Job: j, Memory: m.accounts, Recording: m.record.rec, Events: m.engine.Processed(),
		RanksSimulated: len(m.ranks),
	}
	r.StepTime, r.Stages = mean(m.counted())
	r.Steps, r.Evaluations = m.windows()
	m.record.links.write(r.Recording, j.Topology, m.end)
	m.firstOOM(r)
	r.Comms = m.commTotals()
	r.Links = m.linkTotals()
	return r
}

// windows returns the training steps of a run of several, and the evaluations.
func (m *machine) windows() (steps, evaluations []Window) {
	for _, o := range m.outcomes {
		if o.evaluation {
			evaluations = append(evaluations, o.Window)
		} else {
			steps = append(steps, o.Window)
		}
	}
	if !m.job.Dynamic() {
		steps = nil
	}
	return steps, evaluations
}

// mean returns the mean step and the mean times of its stages, which add up to
// it: what is lost by rounding is computation.
func mean(list []outcome) (sim.Time, []StageTime) {
	n := sim.Time(len(list))
	var step sim.Time
	stages := make([]StageTime, len(list[0].stages))
	for _, o := range list {
		step += o.Time
		for s := range stages {
			stages[s].add(&o.stages[s])
		}
	}
	for s := range stages {
		t := &stages[s]
		for _, x := range append(t.parts(), &t.First, &t.Last, &t.Busy) {
			*x /= n
		}
		rest := step / n
		for _, x := range t.parts() {
			rest -= *x
		}
		t.Compute += rest
	}
	return step / n, stages
}

func (t *StageTime) add(o *StageTime) {
	to := append(t.parts(), &t.First, &t.Last, &t.Busy)
	for i, x := range append(o.parts(), &o.First, &o.Last, &o.Busy) {
		*to[i] += *x
	}
}
