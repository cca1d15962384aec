package step

import (
	"trainsim/memory"
	"trainsim/sim"
)

// driverPoint is what the allocator made the driver do at an instruction of
// a phase: time on the host, which first waits for the GPU if memory was
// given back.
type driverPoint struct {
	action, pc int32
	time       sim.Time
	waits      bool
}

// driver notes the driver's work since the last call.
func (a *account) driver() {
	w := a.alloc.DriverWork()
	if !w.Any() || !a.recording() {
		return
	}
	g := &a.job.Config.GPU
	costs := memory.DriverCosts{Malloc: g.Malloc, Free: g.Free, Map: g.Malloc, Unmap: g.Free}
	t := &a.timelines[len(a.timelines)-1]
	t.driven = append(t.driven, driverPoint{a.action, a.pc, w.Time(costs), w.Waits()})
}

// drivenOf lists the driver's work of every stage in a phase, nil if there is
// none.
func (m *machine) drivenOf(phase int) [][]driverPoint {
	any := false
	out := make([][]driverPoint, len(m.accounts))
	for i := range m.accounts {
		if list := m.accounts[i].timelines; phase < len(list) {
			out[i] = list[phase].driven
			any = any || len(out[i]) > 0
		}
	}
	if !any {
		return nil
	}
	return out
}

// payDriver lets a rank's host wait for the driver's work at its instruction.
func (m *machine) payDriver(rs *rankState, stage int) {
	list := m.driven[stage]
	for ; int(rs.driven) < len(list); rs.driven++ {
		p := &list[rs.driven]
		if p.action > rs.action || p.action == rs.action && p.pc > rs.pc {
			return
		}
		if p.waits {
			rs.host = max(rs.host, rs.clock)
		}
		rs.host += p.time
	}
}
