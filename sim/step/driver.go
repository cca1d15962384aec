package step

import (
	"trainsim/sim/account"
)

// driverWork lists the driver's work of every stage in a phase, nil if there is
// none.
func (m *machine) driverWork(phase int) [][]account.DriverWork {
	any := false
	out := make([][]account.DriverWork, len(m.accounts))
	for i := range m.accounts {
		if list := m.accounts[i].Timelines; phase < len(list) {
			out[i] = list[phase].Driver
			any = any || len(out[i]) > 0
		}
	}
	if !any {
		return nil
	}
	return out
}

// chargeDriver lets a rank's host wait for the driver's work at its instruction.
func (m *machine) chargeDriver(rs *rankState, stage int) {
	list := m.driver[stage]
	for ; int(rs.driverDone) < len(list); rs.driverDone++ {
		p := &list[rs.driverDone]
		if p.Action > rs.action || p.Action == rs.action && p.PC > rs.pc {
			return
		}
		if p.Waits {
			rs.host = max(rs.host, rs.clock)
		}
		rs.host = rs.host.Plus(p.Time)
	}
}
