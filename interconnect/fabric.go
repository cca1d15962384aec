package interconnect

import "fmt"

// fabricShape holds the uplinks of the leaf switches, indexed by leaf.
type fabricShape struct {
	leaves []ports
}

func (t *Topology) addFabric() {
	c := &t.cfg
	if c.Fabric == NonBlocking || c.Nodes < 2 || c.NICs == 0 {
		return
	}
	groups := (c.Nodes + c.NodesPerLeaf - 1) / c.NodesPerLeaf
	count, cards := groups, c.NICs
	if c.Fabric == Rails {
		count, cards = groups*c.NICs, 1
	}
	below := min(c.NodesPerLeaf, c.Nodes) * cards
	l := Link{Kind: LinkFabric, Capacity: float64(below) * float64(c.NICBandwidth) * c.NICEfficiency / c.Oversubscription}
	for i := range count {
		l.Name = fmt.Sprintf("leaf%d/up", i)
		t.links = append(t.links, l)
		l.Name = fmt.Sprintf("leaf%d/down", i)
		t.links = append(t.links, l)
		n := LinkID(len(t.links))
		t.fabric.leaves = append(t.fabric.leaves, ports{n - 2, n - 1})
	}
}

// leaf returns the leaf switch of a card.
func (t *Topology) leaf(node, nic int) int {
	group := node / t.cfg.NodesPerLeaf
	if t.cfg.Fabric == Rails {
		return group*t.cfg.NICs + nic
	}
	return group
}

// netRoute returns the way from a GPU of one node to a GPU of another, through
// the nearest card of each. On a fabric of rails the sender uses the card on
// the receiver's rail where NVLink joins it to that card's GPU, so that the
// data stays on one leaf.
func (t *Topology) netRoute(na, a, nb, b int) []LinkUse {
	from, to := t.node.gpus[a].nic, t.node.gpus[b].nic
	if t.cfg.Fabric == Rails && t.node.owner(a, to) != none {
		from = to
	}
	return t.netHop(na, a, from, nb, b, to)
}

// netHop returns the way from a GPU through two given cards to a GPU of another
// node. A card that is not the GPU's own is reached over NVLink through the
// card's GPU (NCCL's PXN) where that is possible.
func (t *Topology) netHop(na, a, from, nb, b, to int) []LinkUse {
	uses := t.egressOver(nil, na, a, from)
	if len(t.fabric.leaves) > 0 {
		if x, y := t.leaf(na, from), t.leaf(nb, to); x != y {
			uses = append(uses, LinkUse{t.fabric.leaves[x].up, 1}, LinkUse{t.fabric.leaves[y].down, 1})
		}
	}
	return t.append(uses, nb, t.node.ingress(b, to, t.cfg.NoGPUDirect))
}

// egressOver adds the links from a GPU through a card onto the wire, over
// NVLink to the card's own GPU where that is another one.
func (t *Topology) egressOver(uses []LinkUse, node, gpu, card int) []LinkUse {
	if g := t.node.owner(gpu, card); g != none && g != gpu {
		w := way{n: &t.node}
		w.nvlink(gpu, g)
		uses = t.append(uses, node, w.uses)
		gpu = g
	}
	return t.append(uses, node, t.node.egress(gpu, card, t.cfg.NoGPUDirect))
}

// append adds links of a node's shape as links of one node.
func (t *Topology) append(uses []LinkUse, node int, more []LinkUse) []LinkUse {
	for _, u := range more {
		uses = append(uses, LinkUse{t.global(node, u.Link), u.Weight})
	}
	return uses
}

// owner returns the GPU through which a reaches a card: a itself where the card
// is its own, else one that NVLink joins to a; none where there is none.
func (n *nodeShape) owner(a, card int) int {
	if n.gpus[a].nic == card {
		return a
	}
	for g := range n.gpus {
		if n.gpus[g].nic == card && n.bonded[a][g] > 0 {
			return g
		}
	}
	return none
}

// egress returns the links from a GPU through a card onto the wire.
func (n *nodeShape) egress(gpu, nic int, viaHost bool) []LinkUse {
	w, g, c := way{n: n}, &n.gpus[gpu], &n.nics[nic]
	w.add(g.pcie.up)
	if viaHost {
		w.climb(g.site, PathPHB, true)
		w.memory(g.socket, c.socket)
		w.climb(c.site, PathPHB, false)
	} else {
		w.tree(g.site, c.site)
	}
	w.add(c.tx)
	return w.uses
}

// ingress returns the links from the wire through a card into a GPU.
func (n *nodeShape) ingress(gpu, nic int, viaHost bool) []LinkUse {
	w, g, c := way{n: n}, &n.gpus[gpu], &n.nics[nic]
	w.add(c.rx)
	if viaHost {
		w.climb(c.site, PathPHB, true)
		w.memory(c.socket, g.socket)
		w.climb(g.site, PathPHB, false)
	} else {
		w.tree(c.site, g.site)
	}
	w.add(g.pcie.down)
	return w.uses
}
