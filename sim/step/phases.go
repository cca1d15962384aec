package step

import (
	"context"

	"trainsim/sim"
	"trainsim/sim/job"
	"trainsim/sim/trace"
)

// phase is a stretch of a run that all ranks begin together: a training step,
// or the evaluation behind one.
type phase struct {
	step       int // of the memory account
	evaluation bool
	// warmUp: the step counts for nothing. The first of several allocates what
	// the others find in the allocator's cache.
	warmUp bool
}

func (p *phase) counts() bool { return !p.evaluation && !p.warmUp }

// phases lists what a run simulates: one steady step, or as many as lengths are
// drawn for, each with its evaluation.
func phases(j *job.Job) []phase {
	steps := j.Steps()
	var out []phase
	for s := range steps {
		out = append(out, phase{step: s, warmUp: steps > 1 && s == 0})
		if j.Config.Evaluation.Batches > 0 {
			out = append(out, phase{step: s, evaluation: true})
		}
	}
	return out
}

// Window is a phase of a run: when it began and ended, and how long it is. An
// asynchronous schedule's step is a part of its window.
type Window struct{ Start, End, Time sim.Time }

// outcome is what a phase did.
type outcome struct {
	phase
	Window
	stages []StageTime
}

// run simulates the phases one after the other.
func (m *machine) run(ctx context.Context) error {
	for i := range m.phases {
		m.begin(i)
		if err := m.engine.Run(ctx); err != nil {
			return err
		}
		var err error
		if m.done < len(m.ranks) {
			m.end = m.engine.Now()
			err = m.unfinished()
		}
		m.close()
		if err != nil {
			return err
		}
	}
	return nil
}

// begin puts all ranks at the start of a phase.
func (m *machine) begin(i int) {
	j, now := m.job, m.engine.Now()
	m.phase, m.done, m.end, m.began = &m.phases[i], 0, now, now
	m.perPipe = int32(j.Program.PipeMicrobatches())
	m.blocking = j.Config.Schedule.BlockingP2P && j.Config.Parallel.PP > 1
	if m.phase.evaluation {
		m.perPipe = int32(j.Config.Evaluation.Batches)
		m.blocking = m.blocking && j.Program.Chunks == 1 // else sends in a ring would wait for each other
	}
	clear(m.messages)
	for g := range m.streams {
		m.streams[g] = stream{queue: m.streams[g].queue[:0]}
	}
	m.driven = m.drivenOf(i)
	m.record.begin(i, m.phase.counts())
	for r := range m.ranks {
		s := &j.Stages[m.stageOf(int32(r))]
		rs := &m.ranks[r]
		*rs = rankState{script: s.Script, clock: now, host: now, phaseBegan: now, recv: -1, pending: -1, recorded: rs.recorded}
		if m.phase.evaluation {
			rs.script = s.Evaluation
		}
		for k := range rs.script {
			for _, p := range rs.script[k].List() {
				if p.Kind == trace.Forward {
					rs.forwards++
				}
			}
		}
	}
	if m.phase.counts() {
		m.countLinks(-1)
	}
	m.start()
}

// close books what a phase took.
func (m *machine) close() {
	j := m.job
	o := outcome{phase: *m.phase, Window: Window{m.began, m.end, m.end - m.began}}
	columns := m.folding.pipelines
	for s := range j.Stages {
		m.bookEnd(&m.ranks[s*columns])
	}
	if !m.phase.evaluation && (j.Program.Async || j.Config.Schedule.NoBarrier) {
		o.Time = m.steady()
	}
	for s := range j.Stages {
		rs := &m.ranks[s*columns]
		t := stageTime(&rs.books)
		t.First, t.Last, t.Busy = rs.first-m.began, rs.last-m.began, rs.busyTime
		o.stages = append(o.stages, t)
	}
	if m.phase.counts() {
		m.countLinks(1)
		m.record.exposeSends(m)
	}
	m.outcomes = append(m.outcomes, o)
}

// counted returns the outcomes of the steps that count: all, or what there is
// of the first if none ended.
func (m *machine) counted() []outcome {
	var out []outcome
	for _, o := range m.outcomes {
		if o.counts() {
			out = append(out, o)
		}
	}
	if out == nil {
		return m.outcomes[:1]
	}
	return out
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

// parts lists the times that add up to the step.
func (t *StageTime) parts() []*sim.Time {
	out := []*sim.Time{&t.Compute, &t.Recompute, &t.Host, &t.Optimizer, &t.Warmup, &t.Cooldown, &t.Imbalance}
	for d := range t.Comm {
		out = append(out, &t.Comm[d])
	}
	return out
}

func (t *StageTime) add(o *StageTime) {
	to := append(t.parts(), &t.First, &t.Last, &t.Busy)
	for i, x := range append(o.parts(), &o.First, &o.Last, &o.Busy) {
		*to[i] += *x
	}
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
