package interconnect

import "trainsim/sim"

// Route is a way from one device to another.
type Route struct {
	Uses []LinkUse // in order
	Type PathType  // as it is taken, through host memory among others
}

// Route returns the way from a to b when peer-to-peer copies are allowed up to
// level; none for a == b.
func (t *Topology) Route(a, b int, level PathType) Route {
	if a == b {
		return Route{}
	}
	domain := t.DomainOf(a)
	apart := level < PathNVL && t.TrayOf(a) != t.TrayOf(b) && t.Cards() > 0
	if apart || domain != t.DomainOf(b) {
		to := t.Card(b)
		return Route{Uses: t.routeOver(a, t.SendingCard(a, to), b, to), Type: PathNET}
	}
	kind, uses := t.domain.route(t.gpu(a), t.gpu(b), level)
	return Route{Uses: t.append(uses[:0], domain, uses), Type: kind}
}

// PathType returns the class of the way from a to b.
func (t *Topology) PathType(a, b int) PathType {
	if t.DomainOf(a) != t.DomainOf(b) {
		return PathNET
	}
	return t.domain.pathType(t.gpu(a), t.gpu(b))
}

// NVLinks returns how many NVLinks join two devices of a domain, directly or
// through NVSwitches.
func (t *Topology) NVLinks(a, b int) int { return t.domain.bonded[t.gpu(a)][t.gpu(b)] }

// NVLinksVia returns how many NVLinks there are on the way between two devices
// of a domain, over a third where none join them.
func (t *Topology) NVLinksVia(a, b int) int {
	if k := t.NVLinks(a, b); k > 0 {
		return k
	}
	n, from, to := &t.domain, t.gpu(a), t.gpu(b)
	over := n.relay(from, to)
	return min(n.bonded[from][over], n.bonded[over][to])
}

// NVLinksOf returns the number of NVLinks of a GPU.
func (t *Topology) NVLinksOf() int { return t.domain.nvlinks }

// Switched says whether NVSwitches join the GPUs of a domain.
func (t *Topology) Switched() bool { return switched(&t.cfg) }

// SwitchPorts returns the links from a device to its NVSwitches and back.
func (t *Topology) SwitchPorts(device int) (out, in LinkID) {
	p, base := t.domain.gpus[t.gpu(device)].nvlink, t.Base(t.DomainOf(device))
	return base + p.up, base + p.down
}

// Latency returns the sum of the latencies of a route's links.
func (t *Topology) Latency(uses []LinkUse) sim.Time {
	var sum sim.Time
	for _, u := range uses {
		sum += t.link(u.Link).Latency
	}
	return sum
}

func (n *domainShape) pathType(a, b int) PathType {
	switch {
	case a == b:
		return PathSelf
	case n.bonded[a][b] > 0:
		return PathNVL
	case n.relay(a, b) != none:
		return PathNVB
	}
	return n.gpus[a].pathType(n.gpus[b].site)
}

// relay returns the GPU through which NVLink joins a and b best, none without.
func (n *domainShape) relay(a, b int) int {
	best, width := none, 0
	for c := range n.gpus {
		if w := min(n.bonded[a][c], n.bonded[c][b]); c != a && c != b && w > width {
			best, width = c, w
		}
	}
	return best
}

// route returns the way between two GPUs of a domain, in the shape's links.
func (n *domainShape) route(a, b int, level PathType) (PathType, []LinkUse) {
	kind := n.pathType(a, b)
	w := way{n: n}
	switch {
	case kind > level:
		w.host(&n.gpus[a], &n.gpus[b])
		kind = max(kind, PathPHB)
	case kind == PathNVL:
		w.nvlink(a, b)
	case kind == PathNVB:
		c := n.relay(a, b)
		w.nvlink(a, c)
		w.nvlink(c, b)
	default:
		w.add(n.gpus[a].pcie.up)
		w.tree(n.gpus[a].site, n.gpus[b].site)
		w.add(n.gpus[b].pcie.down)
	}
	return kind, w.uses
}

// way collects the links of a route.
type way struct {
	n    *domainShape
	uses []LinkUse
}

func (w *way) add(l LinkID) { w.uses = append(w.uses, LinkUse{Link: l, Weight: 1}) }

func (w *way) nvlink(a, b int) {
	if l := w.n.mesh[a][b]; l != none {
		w.add(l)
		return
	}
	w.add(w.n.gpus[a].nvlink.up)
	w.add(w.n.gpus[b].nvlink.down)
}

// tree adds the links between two places of the PCIe tree: up from the first
// to the lowest part that they share, and down to the second.
func (w *way) tree(a, b site) {
	kind := a.pathType(b)
	w.climb(a, kind, true)
	if kind == PathSYS {
		w.add(w.n.sockets[a.socket][b.socket])
	}
	w.climb(b, kind, false)
}

// climb adds the switch links between a place and the part that it shares with
// the other end.
func (w *way) climb(s site, kind PathType, up bool) {
	var levels []int
	if kind > PathPIX && s.sw != none {
		levels = append(levels, s.sw)
	}
	if kind > PathPXB && s.upper != none {
		levels = append(levels, s.upper)
	}
	for i := range levels {
		if up {
			w.add(w.n.switches[levels[i]].up)
		} else {
			w.add(w.n.switches[levels[len(levels)-1-i]].down)
		}
	}
}

// host adds a copy through host memory on the receiver's socket: one write and
// one read of the memory.
func (w *way) host(a, b *gpuShape) {
	w.add(a.pcie.up)
	w.climb(a.site, PathPHB, true)
	w.memory(a.socket, b.socket)
	w.climb(b.site, PathPHB, false)
	w.add(b.pcie.down)
}

func (w *way) memory(from, to int) {
	if from != to {
		w.add(w.n.sockets[from][to])
	}
	w.uses = append(w.uses, LinkUse{Link: w.n.memory[to], Weight: 2})
}
