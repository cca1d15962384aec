package interconnect

// Islands groups devices of one domain that NVLink joins, directly or through
// others, each group in order; a device without NVLink is an island of its own.
func (t *Topology) Islands(devices []int) [][]int {
	island := make([]int, len(devices))
	var out [][]int
	for i := range devices {
		if island[i] != 0 {
			continue
		}
		members := []int{i}
		island[i] = len(out) + 1
		for next := 0; next < len(members); next++ {
			for j := range devices {
				if island[j] == 0 && t.NVLinks(devices[members[next]], devices[j]) > 0 {
					island[j] = island[i]
					members = append(members, j)
				}
			}
		}
		var group []int
		for j := range devices {
			if island[j] == island[i] {
				group = append(group, devices[j])
			}
		}
		out = append(out, group)
	}
	return out
}
