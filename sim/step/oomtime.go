package step

import (
	"trainsim/sim"
	"trainsim/sim/account"
	"trainsim/sim/code"
	"trainsim/sim/trace"
)

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
