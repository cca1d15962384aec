package interconnect

// route is a way from one device to another under a P2P level.
type route struct {
	uses []LinkUse
	kind PathType
}

// Path returns the links from device a to device b in order, as NCCL's default
// settings choose them; none for a == b.
func (t *Topology) Path(a, b int) []LinkID {
	r := t.route(a, b, t.p2pLevel(Settings{}, len(t.node.visible)))
	links := make([]LinkID, len(r.uses))
	for i, u := range r.uses {
		links[i] = u.Link
	}
	return links
}

// PathType returns the class of the way from a to b.
func (t *Topology) PathType(a, b int) PathType {
	if t.NodeOf(a) != t.NodeOf(b) {
		return PathNET
	}
	return t.node.pathType(t.local(a), t.local(b))
}

func (n *nodeShape) pathType(a, b int) PathType {
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
func (n *nodeShape) relay(a, b int) int {
	best, width := none, 0
	for c := range n.gpus {
		if w := min(n.bonded[a][c], n.bonded[c][b]); c != a && c != b && w > width {
			best, width = c, w
		}
	}
	return best
}

// route returns the way from a to b when peer-to-peer copies are allowed up to
// level.
func (t *Topology) route(a, b int, level PathType) route {
	if a == b {
		return route{}
	}
	na, nb := t.NodeOf(a), t.NodeOf(b)
	if na != nb {
		return route{uses: t.netRoute(na, t.local(a), nb, t.local(b)), kind: PathNET}
	}
	if level < PathNVL && t.trayOf(a) != t.trayOf(b) && len(t.node.nics) > 0 {
		return route{uses: t.netRoute(na, t.local(a), nb, t.local(b)), kind: PathNET}
	}
	kind, uses := t.node.route(t.local(a), t.local(b), level)
	for i := range uses {
		uses[i].Link = t.global(na, uses[i].Link)
	}
	return route{uses: uses, kind: kind}
}

// route returns the way between two GPUs of the node, in the shape's links.
func (n *nodeShape) route(a, b int, level PathType) (PathType, []LinkUse) {
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
	n    *nodeShape
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
