package interconnect

// Card returns the network card of its domain that a device uses, the nearest;
// -1 on nodes without cards.
func (t *Topology) Card(device int) int { return t.domain.gpus[t.gpu(device)].nic }

// Cards returns the number of network cards of a domain.
func (t *Topology) Cards() int { return len(t.domain.nics) }

// CardPath returns the class of the way from a device to a card of its domain.
func (t *Topology) CardPath(device, card int) PathType {
	return t.domain.gpus[t.gpu(device)].pathType(t.domain.nics[card].site)
}

// SendingCard returns the card through which a device sends to a card of another
// domain: its own or, on a fabric of rails, the one on the receiver's rail where
// NVLink joins the device to that card's GPU, so that the data stays on one leaf.
func (t *Topology) SendingCard(device, to int) int {
	gpu := t.gpu(device)
	if t.cfg.Fabric == Rails && t.domain.owner(gpu, to) != none {
		return to
	}
	return t.domain.gpus[gpu].nic
}

// routeOver returns the way from a device through two given cards to a device of
// another domain.
func (t *Topology) routeOver(a, out, b, in int) []LinkUse {
	uses := t.Egress(a, out)
	da, db := t.DomainOf(a), t.DomainOf(b)
	if t.Leaves() > 0 {
		uses = append(uses, t.Uplinks(t.Leaf(da, out), t.Leaf(db, in))...)
	}
	return t.append(uses, db, t.domain.ingress(t.gpu(b), in, t.cfg.NoGPUDirect))
}

// Egress returns the links from a device through a card of its domain onto the
// wire: over NVLink to the card's own GPU where that is another one (NCCL's PXN).
func (t *Topology) Egress(device, card int) (uses []LinkUse) {
	domain, gpu := t.DomainOf(device), t.gpu(device)
	if g := t.domain.owner(gpu, card); g != none && g != gpu {
		w := way{n: &t.domain}
		w.nvlink(gpu, g)
		uses = t.append(uses, domain, w.uses)
		gpu = g
	}
	return t.append(uses, domain, t.domain.egress(gpu, card, t.cfg.NoGPUDirect))
}

// Ingress returns the links from the wire through a card of its domain to a device.
func (t *Topology) Ingress(device, card int) []LinkUse {
	return t.append(nil, t.DomainOf(device), t.domain.ingress(t.gpu(device), card, t.cfg.NoGPUDirect))
}

// append adds links of the domain's shape as links of one domain.
func (t *Topology) append(uses []LinkUse, domain int, more []LinkUse) []LinkUse {
	for _, u := range more {
		uses = append(uses, LinkUse{t.Base(domain) + u.Link, u.Weight})
	}
	return uses
}

// owner returns the GPU through which a reaches a card: a itself where the card
// is its own, else one that NVLink joins to a; none where there is none.
func (n *domainShape) owner(a, card int) int {
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
func (n *domainShape) egress(gpu, nic int, viaHost bool) []LinkUse {
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
func (n *domainShape) ingress(gpu, nic int, viaHost bool) []LinkUse {
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

// chooseNICs gives each GPU its nearest card; cards that are equally near are
// dealt out in order.
func (n *domainShape) chooseNICs(c *Config) {
	if len(n.nics) == 0 {
		return
	}
	for g := range n.gpus {
		near := n.nearNICs(g)
		n.gpus[g].nic = near[g*len(near)/len(n.gpus)]
		if c.NICAffinity == Rail && c.Topology == nil {
			n.gpus[g].nic = g * len(n.nics) / len(n.gpus)
		}
	}
}

// nearNICs returns the cards that are nearest to a GPU.
func (n *domainShape) nearNICs(gpu int) []int {
	best := PathNET
	var near []int
	for i := range n.nics {
		switch t := n.gpus[gpu].pathType(n.nics[i].site); {
		case t < best:
			best, near = t, append(near[:0], i)
		case t == best:
			near = append(near, i)
		}
	}
	return near
}
