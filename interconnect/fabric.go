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

// Leaves returns the number of leaf switches whose uplinks limit traffic; 0 on a
// non-blocking fabric.
func (t *Topology) Leaves() int { return len(t.fabric.leaves) }

// Leaf returns the leaf switch of a card of a domain.
func (t *Topology) Leaf(domain, card int) int {
	group := domain / t.cfg.NodesPerLeaf
	if t.cfg.Fabric == Rails {
		return group*t.cfg.NICs + card
	}
	return group
}

// Rail returns the card of a domain that a leaf switch of a fabric of rails is
// for.
func (t *Topology) Rail(leaf int) int { return leaf % max(t.cfg.NICs, 1) }

// Uplinks returns the links between two leaf switches; none where they are one.
func (t *Topology) Uplinks(from, to int) []LinkUse {
	if from == to {
		return nil
	}
	return []LinkUse{{t.fabric.leaves[from].up, 1}, {t.fabric.leaves[to].down, 1}}
}
