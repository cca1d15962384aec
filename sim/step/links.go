package step

import (
	"math"

	"trainsim/interconnect"
)

// countLinks adds (sign 1) or takes away (-1) what links have carried so far:
// both around a phase leave what it put on them.
func (m *machine) countLinks(sign float64) {
	if m.carried == nil {
		m.carried = make([]float64, m.job.Topology.Links())
	}
	for _, u := range m.network.Utilisation() {
		m.carried[u.Link] += sign * u.Bytes
	}
}

// linkTotals returns the use of every link that carried something, in a step.
func (m *machine) linkTotals() []LinkTotal {
	var out []LinkTotal
	counted := m.counted()
	seconds, steps := 0.0, float64(len(counted))
	for _, o := range counted {
		seconds += (o.End - o.Start).Seconds()
	}
	for l := range interconnect.LinkID(m.job.Topology.Links()) {
		carried := m.carried[l]
		if m.folding.folded() && m.folding.sameLink[l] >= 0 {
			carried = m.carried[m.folding.sameLink[l]]
		}
		if carried <= 0 {
			continue
		}
		link := m.job.Topology.Link(l)
		t := LinkTotal{Name: link.Name, Bytes: int64(math.Round(carried / steps))}
		if seconds > 0 {
			t.Utilisation = carried / (link.Capacity * seconds)
		}
		out = append(out, t)
	}
	return out
}
