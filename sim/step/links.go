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
	used := 0
	for l := range m.carried {
		if m.carriedBy(interconnect.LinkID(l)) > 0 {
			used++
		}
	}
	if used > 0 {
		out = make([]LinkTotal, 0, used)
	}
	for l := range interconnect.LinkID(len(m.carried)) {
		carried := m.carriedBy(l)
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

// carriedBy returns what a link has carried, or the one that is like it.
func (m *machine) carriedBy(l interconnect.LinkID) float64 {
	if m.folding.folded() && m.folding.sameLink[l] >= 0 {
		l = m.folding.sameLink[l]
	}
	return m.carried[l]
}
