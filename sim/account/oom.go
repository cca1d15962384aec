package account

import (
	"errors"

	"trainsim/memory"
	"trainsim/sim/code"
	"trainsim/sim/trace"
)

// Fragmentation is the phase of an allocation that fails although all that the job
// ever allocates would fit, if only it lay closer together.
const Fragmentation = "fragmentation"

// OOM is an allocation that failed, in the program order of its rank.
type OOM struct {
	Rank, Stage int
	Step        int // of training, from 0
	Action      string
	Tensor      string
	// Phase is when: start-up, first-forward, forward, first-backward,
	// backward, optimizer-step, evaluation or [Fragmentation].
	Phase           string
	Err             *memory.OutOfMemory
	ActionIndex, PC int32
	Evaluating      bool
}

func (a *replay) oom() *OOM {
	o := &OOM{Rank: a.stage * a.job.Config.Parallel.RanksPerStage(), Stage: a.stage, Step: a.step,
		Tensor: a.tensor, Phase: "start-up", Action: "start-up", ActionIndex: -1}
	errors.As(a.full, &o.Err)
	if a.failedAction >= 0 {
		act := &a.job.Script(a.stage, a.evaluating)[a.failedAction]
		o.Action, o.Phase = a.job.Compiler.Names[act.Name], a.phase(act)
		o.ActionIndex, o.PC, o.Evaluating = a.failedAction, a.failedPC, a.evaluating
	}
	return o
}

func (a *replay) phase(act *code.Action) string {
	if a.evaluating {
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

// markFragmentation says that fragmentation is to blame if the request would have fitted
// into idle bytes, and the job, as m has it with room enough, into the device.
func (o *OOM) markFragmentation(m *RankMemory) {
	room := m.Capacity - m.Outside
	if m.Allowed > 0 {
		room = m.Allowed
	}
	if o.Err != nil && o.Err.Fragmented() && m.PeakAllocated <= room {
		o.Phase = Fragmentation
	}
}
