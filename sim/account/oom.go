package account

import (
	"errors"

	"trainsim/memory"
	"trainsim/sim/code"
	"trainsim/sim/trace"
)

// OOM is an allocation that failed, in the program order of its rank.
type OOM struct {
	Rank, Stage int
	Step        int // of training, from 0
	Action      string
	Tensor      string
	// Phase is when: start-up, first-forward, forward, first-backward,
	// backward, optimizer-step, evaluation or [Fragmentation].
	Phase string
	Err   *memory.OutOfMemory
	// ActionIndex and PC are the instruction, of the step's script or the
	// evaluation's; -1 for start-up.
	ActionIndex, PC int32
	InEvaluation    bool
}

// Fragmentation is the phase of an allocation that fails although all that the job
// ever allocates would fit, if only it lay closer together.
const Fragmentation = "fragmentation"

// oom describes the failure.
func (a *replay) oom() *OOM {
	f := &a.failure
	o := &OOM{Rank: a.stage * a.job.Config.Parallel.RanksPerStage(), Stage: a.stage, Step: a.step,
		Tensor: f.tensor, Phase: "start-up", Action: "start-up", ActionIndex: -1}
	errors.As(f.err, &o.Err)
	if f.action >= 0 {
		act := &a.job.Script(a.stage, f.inEvaluation)[f.action]
		o.Action, o.Phase = a.job.Compiler.Names[act.Name], a.phase(act)
		o.ActionIndex, o.PC, o.InEvaluation = f.action, f.pc, f.inEvaluation
	}
	return o
}

// phase names when an action is.
func (a *replay) phase(act *code.Action) string {
	if a.failure.inEvaluation {
		return "evaluation"
	}
	first := ""
	p := &act.Parts[0]
	if a.step == 0 && p.Microbatch == 0 {
		first = "first-"
	}
	switch {
	case p.Microbatch < 0:
		return "optimizer-step"
	case p.Kind == trace.Forward:
		return first + "forward"
	}
	return first + "backward"
}

// markFragmentation says that fragmentation is to blame if the request would have
// fitted into idle bytes, and the job, as m has it with room enough, into the
// device.
func (o *OOM) markFragmentation(m *RankMemory) {
	room := m.Capacity - m.Outside
	if m.Allowed > 0 {
		room = m.Allowed
	}
	if o.Err != nil && o.Err.Fragmented() && m.PeakAllocated <= room {
		o.Phase = Fragmentation
	}
}
