package step

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"trainsim/schedule"
	"trainsim/sim"
	"trainsim/sim/account"
	"trainsim/sim/code"
	"trainsim/sim/job"
	"trainsim/sim/trace"
)

// Timed simulates a step without the memory account: Memory and OOM of its
// result are empty.
func Timed(ctx context.Context, j *job.Job, o Options) (*Result, error) {
	res, err := simulate(ctx, j, o, make([]account.RankMemory, len(j.Stages)), j.Config.Faults.Any())
	if res != nil {
		res.Memory = nil
	}
	return res, err
}

// Options say how a job is run.
type Options struct {
	// RecordAll records every rank, not one of every pipeline rank.
	RecordAll bool
	// NoRecording keeps only times and memory: the Recording is empty and there
	// are no totals of collectives.
	NoRecording bool
	// Fold simulates one of the pipelines that cannot differ and lets it stand
	// for all of them. It changes no result.
	Fold bool
	// MaxEvents caps the engine's events; 0 means no cap.
	MaxEvents uint64
}

// Result is what a run did.
type Result struct {
	Job      *job.Job
	StepTime sim.Time
	Stages   []StageTime // of one rank of each pipeline rank
	// Steps are the training steps where sequences differ in length, nil
	// otherwise. The first warms up; StepTime, Stages, Comms and Links are means
	// over the others. Evaluations are those behind the steps.
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

// Run builds a Config's job and simulates a step.
func Run(ctx context.Context, c *job.Config, o Options) (*Result, error) {
	j, err := job.Build(ctx, c, account.Peaks)
	if err != nil {
		return nil, err
	}
	return Simulate(ctx, j, o)
}

// Simulate simulates one steady step of the job. With faults it simulates the
// healthy cluster as well, to know what they cost. With a schedule.ErrDeadlock it
// returns what was done until then.
func Simulate(ctx context.Context, j *job.Job, o Options) (*Result, error) {
	accounts, err := account.Replay(ctx, j, !o.NoRecording)
	if err != nil {
		return nil, err
	}
	if !j.Config.Faults.Any() {
		return simulate(ctx, j, o, accounts, false)
	}
	healthy, err := simulate(ctx, j, Options{NoRecording: true, Fold: o.Fold, MaxEvents: o.MaxEvents}, accounts, false)
	if err != nil {
		return nil, err
	}
	o.Fold = o.Fold && j.Config.Faults.Jitter == 0 // which tells all ranks apart
	res, err := simulate(ctx, j, o, accounts, true)
	if err != nil {
		return res, err
	}
	res.Healthy, res.HealthyStep = healthy.Stages, healthy.StepTime
	return res, nil
}

// simulate runs a job once, on a cluster with its faults or without them.
func simulate(ctx context.Context, j *job.Job, o Options, accounts []account.RankMemory, faults bool) (*Result, error) {
	m, err := prepare(j, o, accounts, faults)
	if err != nil {
		return nil, err
	}
	if err := m.run(ctx); err != nil && !errors.Is(err, schedule.ErrDeadlock) {
		return nil, err
	} else {
		return m.result(), err
	}
}

// prepare puts a job on an engine of its own.
func prepare(j *job.Job, o Options, accounts []account.RankMemory, faults bool) (*machine, error) {
	var e sim.Engine
	e.SetMaxEvents(o.MaxEvents)
	e.Reserve(2*j.Ranks() + 64)
	m := newMachine(j, &e, accounts, o.Fold && !o.RecordAll)
	m.record = newRecorder(m, o, accounts)
	m.record.links = newLinkMeter(j.Topology.Links())
	if !o.NoRecording {
		var err error
		if m.record.rec.Blocks, err = account.Blocks(j, accounts); err != nil {
			return nil, err
		}
		m.network.Record(m.record.links.change)
	}
	if faults {
		return m, m.injectFaults()
	}
	return m, nil
}

// deadlock lists who waits for whom.
func (m *machine) deadlock() error {
	var b strings.Builder
	listed := 0
	for r := range m.ranks {
		rs := &m.ranks[r]
		if rs.wait == finished {
			continue
		}
		if listed++; listed > 8 {
			fmt.Fprintf(&b, "\n  ... and %d more", len(m.ranks)-m.done-8)
			break
		}
		name := m.job.Compiler.Names[rs.script[rs.action].Name]
		fmt.Fprintf(&b, "\n  rank %d (stage %d) in %s waits for %s", m.folding.rank(int32(r)), m.stageOf(int32(r)), name, m.waitsFor(rs))
	}
	return fmt.Errorf("%w at %v: %d of %d ranks are not done%s",
		schedule.ErrDeadlock, m.engine.Now(), len(m.ranks)-m.done, len(m.ranks), b.String())
}

func (m *machine) waitsFor(rs *rankState) string {
	if rs.wait == onStream {
		g := &m.job.Groups[rs.waitGroup]
		return fmt.Sprintf("collective %d of its %s group", rs.waitIndex, g.Kind)
	}
	id := rs.recv
	if id < 0 || m.messages[id].done {
		id = rs.pending
	}
	if id < 0 {
		return "its next event"
	}
	from, to := m.endpoints(id)
	return fmt.Sprintf("a message from rank %d to rank %d", m.folding.rank(from), m.folding.rank(to))
}

func (m *machine) result() *Result {
	j := m.job
	r := &Result{Job: j, Memory: m.accounts, Recording: m.record.rec, Events: m.engine.Processed(), RanksSimulated: len(m.ranks)}
	r.StepTime, r.Stages = mean(m.counted())
	r.Steps, r.Evaluations = m.windows()
	m.record.links.write(r.Recording, j.Topology, m.end)
	m.firstOOM(r)
	r.Comms = m.commTotals()
	r.Links = m.linkTotals()
	return r
}

// bookEnd books what is left of the step as idle.
func (m *machine) bookEnd(rs *rankState) {
	rs.forwards = 0
	m.bookIdle(rs, m.end)
}

func stageTime(b *books) StageTime {
	return StageTime{
		Compute: b[bookCompute], Recompute: b[bookRecompute], Host: b[bookHost],
		Comm: [trace.NumDimensions]sim.Time(b[bookComm:bookOptimizer]), Optimizer: b[bookOptimizer],
		Warmup: b[bookWarmup], Cooldown: b[bookCooldown], Imbalance: b[bookImbalance],
	}
}

// firstOOM finds the failed allocation that strikes first.
func (m *machine) firstOOM(r *Result) {
	for i := range r.Memory {
		o := r.Memory[i].OOM
		if o == nil {
			continue
		}
		at := m.failedAt(i, o)
		if r.OOM == nil || at < r.OOMAt {
			r.OOM, r.OOMAt = o, at
		}
	}
}

// failedAt returns when the kernel of a failed allocation began, or its action
// where that is not known, from the start of the recording: of a run of one
// step, from the start of its step.
func (m *machine) failedAt(stage int, o *account.OOM) sim.Time {
	if o.ActionIndex < 0 {
		return 0
	}
	from := m.outcomeOf(o).Start
	act := &m.job.Script(stage, o.InEvaluation)[o.ActionIndex]
	action := m.spanOf(stage, trace.Actions, act.Name, from, sim.Forever)
	if action == nil {
		return from
	}
	instrs := m.job.BlockOf(act, 0, o.Step).Code
	if at := int(o.PC); at < len(instrs) && instrs[at].Kind == code.RunKernel {
		if k := m.spanOf(stage, trace.Compute, instrs[at].Name, action.Start, action.End); k != nil {
			return k.Start
		}
	}
	return action.Start
}

// spanOf returns the first span of a name on a stage's stream within an
// interval, nil if there is none.
func (m *machine) spanOf(stage int, stream trace.Stream, name uint32, from, to sim.Time) *trace.Span {
	for s := range m.record.rec.Spans {
		lane := &m.record.rec.Lanes[s.Lane]
		if lane.Stage == stage && lane.Stream == stream && s.Name == name && s.Start >= from && s.End <= to {
			return s
		}
	}
	return nil
}

// outcomeOf returns the phase in which an allocation failed, or that stands for
// it.
func (m *machine) outcomeOf(o *account.OOM) *outcome {
	for i := range m.outcomes {
		p := &m.outcomes[i]
		if p.evaluation == o.InEvaluation && (!m.job.Dynamic() || p.step == o.Step) {
			return p
		}
	}
	return &m.outcomes[0]
}
