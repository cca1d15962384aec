package step

import "math"

// linkTotals returns the use of every link that carried something.
func (m *machine) linkTotals() []LinkTotal {
	var out []LinkTotal
	links := m.job.Topology.Links()
	for _, u := range m.network.Utilisation() {
		t := LinkTotal{Name: links[u.Link].Name, Bytes: int64(math.Round(u.Bytes))}
		if m.end > 0 {
			t.Utilisation = u.Bytes / (links[u.Link].Capacity * m.end.Seconds())
		}
		out = append(out, t)
	}
	return out
}
