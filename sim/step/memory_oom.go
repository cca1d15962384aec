package step

import (
	"errors"

	"trainsim/memory"
	"trainsim/sim/trace"
)

// OOM is an allocation that failed, in the program order of its rank.
type OOM struct {
	Rank, Stage int
	Step        int // of training, from 0
	Action      string
	Tensor      string
	// Phase is when: start-up, first-forward, forward, first-backward,
	// backward, optimizer-step or evaluation; fragmentation when all that the
	// job ever allocates would fit, if only it lay closer together.
	Phase      string
	Err        *memory.OutOfMemory
	action, pc int32
	evaluating bool
}

func (a *account) oom() *OOM {
	o := &OOM{Rank: a.stage * a.job.Config.Parallel.columns(), Stage: a.stage, Step: a.step,
		Tensor: a.tensor, Phase: "start-up", Action: "start-up", action: -1}
	errors.As(a.full, &o.Err)
	if a.failedAction >= 0 {
		act := &a.job.script(a.stage, a.evaluating)[a.failedAction]
		o.Action, o.Phase = a.job.compiler.names[act.name], a.phase(act)
		o.action, o.pc, o.evaluating = a.failedAction, a.failedPC, a.evaluating
	}
	return o
}

func (a *account) phase(act *action) string {
	if a.evaluating {
		return "evaluation"
	}
	first := ""
	p := &act.parts[0]
	if a.step == 0 && p.microbatch == 0 {
		first = "first-"
	}
	switch {
	case p.microbatch < 0:
		return "optimizer-step"
	case p.kind == trace.Forward:
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
		o.Phase = "fragmentation"
	}
}

// limit says what a rank may use: the device, or less of it by memory_fraction,
// which counts what PyTorch reserves and not what lies outside.
func (j *Job) limit(m *RankMemory) {
	m.Capacity = int64(j.Config.GPU.Memory)
	if f := j.Config.Memory.Fraction; f > 0 && f < 1 {
		if allowed := int64(f * float64(m.Capacity)); allowed < m.Capacity-m.Outside {
			m.Allowed = allowed
		}
	}
}
