package interconnect

import "fmt"

// none marks an absent link or site.
const none = -1

// site is a device's place in the PCIe tree: the switch it hangs on, the
// switch above that, the host bridge and the socket; none where absent. Two
// devices with the same number share that part.
type site struct {
	sw, upper, bridge, socket int
}

// ports are the two directions of a connection to what is above.
type ports struct {
	up, down LinkID
}

// gpuShape is one GPU of a domain.
type gpuShape struct {
	site
	pcie   ports
	nvlink ports // to the NVSwitches; none without
	nic    int   // nearest card; none without
}

// nicShape is one network card of a domain.
type nicShape struct {
	site
	tx, rx LinkID
}

// domainShape is one NVLink domain: a machine, or the machines (trays) that
// NVSwitches join. All of a cluster are alike, so that link l of domain d is link
// d*len(links)+l of the cluster.
type domainShape struct {
	links    []Link
	tray     []int // of each link: the machine of the domain, 0 where a node is one
	trays    int   // machines of a domain
	gpus     []gpuShape
	nics     []nicShape
	visible  []int      // physical GPU of each device that the job sees
	mesh     [][]LinkID // direct NVLink from GPU to GPU, none without
	bonded   [][]int    // number of NVLinks of each pair
	switches []ports    // by switch number: first- and second-level alike
	sockets  [][]LinkID // link from socket to socket
	memory   []LinkID   // of each socket
	nvlinks  int        // of a GPU
}

func newDomainShape(c *Config, trays int) domainShape {
	n := domainShape{trays: trays}
	gpus, nics := sitesOf(c)
	n.addGPUs(c, gpus)
	n.addNICs(c, nics)
	n.addSwitches(c, gpus, nics)
	n.addSockets(c, gpus, nics)
	n.addNVLink(c)
	n.visible = c.VisibleDevices
	if len(n.visible) == 0 {
		for g := range n.gpus {
			n.visible = append(n.visible, g)
		}
	}
	n.chooseNICs(c)
	return n
}

// add adds a link of the i-th of total parts of a kind, which the trays share
// evenly; name is what follows the part's number within its tray.
func (n *domainShape) add(l Link, kind string, i, total int, name string) LinkID {
	per := max(total/n.trays, 1)
	l.Name = fmt.Sprintf("%s%d/%s", kind, i%per, name)
	n.links, n.tray = append(n.links, l), append(n.tray, i/per)
	return LinkID(len(n.links) - 1)
}

// addPorts adds the two directions of a PCIe connection.
func (n *domainShape) addPorts(c *Config, kind string, i, total int) ports {
	l := Link{Kind: LinkPCIe, Capacity: float64(c.PCIeBandwidth), Latency: c.PCIeLatency}
	up := n.add(l, kind, i, total, "pcie/up")
	return ports{up, n.add(l, kind, i, total, "pcie/down")}
}

func (n *domainShape) addGPUs(c *Config, sites []site) {
	for i, s := range sites {
		n.gpus = append(n.gpus, gpuShape{
			site: s, pcie: n.addPorts(c, "gpu", i, len(sites)),
			nvlink: ports{none, none}, nic: none,
		})
	}
}

func (n *domainShape) addNICs(c *Config, sites []site) {
	for i, s := range sites {
		l := Link{Kind: LinkNIC, Capacity: float64(c.NICBandwidth) * c.NICEfficiency, Latency: c.NICLatency / 2}
		tx := n.add(l, "nic", i, len(sites), "tx")
		l.Latency = c.NICLatency - c.NICLatency/2
		n.nics = append(n.nics, nicShape{site: s, tx: tx, rx: n.add(l, "nic", i, len(sites), "rx")})
	}
}

// addSwitches gives each PCIe switch the link to what is above it.
func (n *domainShape) addSwitches(c *Config, groups ...[]site) {
	count := 0
	for _, sites := range groups {
		for _, s := range sites {
			count = max(count, s.sw+1, s.upper+1)
		}
	}
	for i := range count {
		n.switches = append(n.switches, n.addPorts(c, "switch", i, count))
	}
}

func (n *domainShape) addSockets(c *Config, groups ...[]site) {
	count := 1
	for _, sites := range groups {
		for _, s := range sites {
			count = max(count, s.socket+1)
		}
	}
	for s := range count {
		l := Link{Kind: LinkMemory, Capacity: float64(c.HostMemoryBandwidth)}
		n.memory = append(n.memory, n.add(l, "socket", s, count, "memory"))
	}
	n.sockets = newLinkTable(count)
	per := max(count/n.trays, 1)
	for a := range count {
		for b := range count {
			if a != b && a/per == b/per {
				l := Link{Kind: LinkSocket, Capacity: float64(c.SocketBandwidth), Latency: c.PCIeLatency}
				n.sockets[a][b] = n.add(l, "socket", a, count, fmt.Sprintf("to-socket%d", b%per))
			}
		}
	}
}

func newLinkTable(n int) [][]LinkID {
	t := make([][]LinkID, n)
	for i := range t {
		t[i] = make([]LinkID, n)
		for j := range t[i] {
			t[i][j] = none
		}
	}
	return t
}
