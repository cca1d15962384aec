package step

import (
	"math"

	"trainsim/interconnect"
)

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

// counted returns the outcomes of the steps that count: all, or what there is
// of the first if none ended.
func (m *machine) counted() []outcome {
	var out []outcome
	for _, o := range m.outcomes {
		if o.counts() {
			out = append(out, o)
		}
	}
	if out == nil {
		return m.outcomes[:1]
	}
	return out
}
