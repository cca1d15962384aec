package account

import (
	"trainsim/memory"
	"trainsim/sim"
)

// DriverWork is what the allocator made the driver do at an instruction of
// a phase: time on the host, which first waits for the GPU if memory was
// given back.
type DriverWork struct {
	Action, PC int32
	Time       sim.Time
	Waits      bool
}

// driver notes the driver's work since the last call.
func (a *replay) driver() {
	w := a.alloc.DriverWork()
	if !w.Any() || !a.recording() {
		return
	}
	g := &a.job.Config.GPU
	costs := memory.DriverCosts{Malloc: g.Malloc, Free: g.Free, Map: g.Malloc, Unmap: g.Free}
	t := &a.timelines[len(a.timelines)-1]
	t.Driver = append(t.Driver, DriverWork{a.action, a.pc, w.Time(costs), w.Waits()})
}
