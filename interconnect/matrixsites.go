package interconnect

// sites rebuilds the PCIe tree from the table: devices that are PIX apart
// share a switch, PXB an upper switch, PHB a host bridge, NODE a socket. NVLink
// hides the PCIe path of a pair, so sockets also come from the affinity
// columns, and what no cell tells stays apart.
func (m *Matrix) sites() (gpus, nics []site) {
	total := m.GPUs() + m.NICs()
	sw := m.group(PathPIX, nil)
	upper := m.group(PathPXB, nil)
	bridge := m.group(PathPHB, nil)
	socket := m.group(PathNODE, m.sameNUMA)
	all := make([]site, total)
	switches := 0
	for _, s := range sw {
		switches = max(switches, s+1)
	}
	for i := range all {
		all[i] = site{sw: none, upper: none, bridge: bridge[i], socket: socket[i]}
		if shared(sw, i) {
			all[i].sw = sw[i]
		}
		if shared(upper, i) && !sameMembers(sw, upper, i) {
			all[i].upper = switches + upper[i]
		}
	}
	return all[:m.GPUs()], all[m.GPUs():]
}

// group numbers the connected groups of devices that are at most far apart or
// that joined says belong together.
func (m *Matrix) group(far PathType, joined func(a, b int) bool) []int {
	n := m.GPUs() + m.NICs()
	label := make([]int, n)
	for i := range label {
		label[i] = none
	}
	count := 0
	for i := range label {
		if label[i] == none {
			m.spread(label, i, count, far, joined)
			count++
		}
	}
	return label
}

func (m *Matrix) spread(label []int, from, number int, far PathType, joined func(a, b int) bool) {
	label[from] = number
	stack := []int{from}
	for len(stack) > 0 {
		a := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for b := range label {
			near := m.Cells[a][b].Type >= PathPIX && m.Cells[a][b].Type <= far
			if label[b] == none && (near || (joined != nil && joined(a, b))) {
				label[b] = number
				stack = append(stack, b)
			}
		}
	}
}

// sameNUMA says whether the affinity columns put two GPUs whose cell is NVLink
// on one NUMA node.
func (m *Matrix) sameNUMA(a, b int) bool {
	if a >= m.GPUs() || b >= m.GPUs() || m.Cells[a][b].Type != PathNVL {
		return false
	}
	if m.NUMA[a] >= 0 && m.NUMA[b] >= 0 {
		return m.NUMA[a] == m.NUMA[b]
	}
	return m.CPUs[a] != "" && m.CPUs[a] == m.CPUs[b]
}

func shared(label []int, i int) bool {
	for j := range label {
		if j != i && label[j] == label[i] {
			return true
		}
	}
	return false
}

// sameMembers says whether device i's group is the same under both labels.
func sameMembers(a, b []int, i int) bool {
	for j := range a {
		if (a[j] == a[i]) != (b[j] == b[i]) {
			return false
		}
	}
	return true
}
