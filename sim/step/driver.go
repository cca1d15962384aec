package step

import (
	"trainsim/sim/account"
)

// drivenOf lists the driver's work of every stage in a phase, nil if there is
// none.
func (m *machine) drivenOf(phase int) [][]account.DriverWork {
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

// payDriver lets a rank's host wait for the driver's work at its instruction.
func (m *machine) payDriver(rs *rankState, stage int) {
	list := m.driven[stage]
	for ; int(rs.driven) < len(list); rs.driven++ {
		p := &list[rs.driven]
		if p.Action > rs.action || p.Action == rs.action && p.PC > rs.pc {
			return
		}
		if p.Waits {
			rs.host = max(rs.host, rs.clock)
		}
		rs.host = rs.host.Plus(p.Time)
	}
}
