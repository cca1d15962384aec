package interconnect

// sitesOf places the GPUs and the cards of a node in its PCIe tree.
func sitesOf(c *Config) (gpus, nics []site) {
	if c.Topology != nil {
		return c.Topology.sites()
	}
	return configSites(c)
}

func configSites(c *Config) (gpus, nics []site) {
	perSocket := (c.GPUsPerNode + c.Sockets - 1) / c.Sockets
	sw, upper, bridge := newGroups(c.GPUsPerSwitch), newGroups(c.GPUsPerUpperSwitch), newGroups(c.GPUsPerHostBridge)
	if bridge.size == 0 {
		bridge.size = max(1, c.GPUsPerSwitch, c.GPUsPerUpperSwitch)
	}
	for g := range c.GPUsPerNode {
		socket, i := g/perSocket, g%perSocket
		gpus = append(gpus, site{sw: sw.of(socket, i), upper: upper.of(socket, i), bridge: bridge.of(socket, i),
			socket: socket})
	}
	for i := range gpus {
		if gpus[i].upper != none {
			gpus[i].upper += sw.count
		}
	}
	for i := range c.NICs {
		nics = append(nics, configNIC(c, gpus, i, &bridge))
	}
	return gpus, nics
}

// configNIC places card i.
func configNIC(c *Config, gpus []site, i int, bridge *groups) site {
	near := gpus[i*len(gpus)/c.NICs]
	if c.NICAffinity == Rail {
		return near
	}
	s := site{sw: none, upper: none, bridge: bridge.count, socket: near.socket}
	bridge.count++
	if c.NICAffinity == OffSocket {
		s.socket = c.Sockets - 1
	}
	return s
}

// groups numbers the groups of size neighbours, counted anew on each socket.
type groups struct {
	size, count int
	socket      int
}

func newGroups(size int) groups { return groups{size: size, socket: none} }

// of returns the group of the i-th device of a socket; calls go upwards.
func (g *groups) of(socket, i int) int {
	if g.size == 0 {
		return none
	}
	if socket != g.socket || i%g.size == 0 {
		g.socket = socket
		g.count++
	}
	return g.count - 1
}

// pathType returns the way between two places as nvidia-smi names it.
func (s site) pathType(o site) PathType {
	switch {
	case s.sw != none && s.sw == o.sw:
		return PathPIX
	case s.upper != none && s.upper == o.upper:
		return PathPXB
	case s.bridge == o.bridge:
		return PathPHB
	case s.socket == o.socket:
		return PathNODE
	}
	return PathSYS
}
