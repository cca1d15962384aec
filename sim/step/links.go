package step

import "math"

// linkTotals returns the use of every link that carried something.
func (m *machine) linkTotals() []LinkTotal {
	var out []LinkTotal
	links := m.job.Topology.Links()
	bytes := make([]float64, len(links))
	for _, u := range m.network.Utilisation() {
		bytes[u.Link] = u.Bytes
	}
	for l := range links {
		carried := bytes[l]
		if m.crew.folded() && m.crew.shown[l] >= 0 {
			carried = bytes[m.crew.shown[l]]
		}
		if carried == 0 {
			continue
		}
		t := LinkTotal{Name: links[l].Name, Bytes: int64(math.Round(carried))}
		if m.end > 0 {
			t.Utilisation = carried / (links[l].Capacity * m.end.Seconds())
		}
		out = append(out, t)
	}
	return out
}
