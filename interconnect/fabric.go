package interconnect

import "fmt"

// fabricShape holds the uplinks of the leaf switches.
type fabricShape struct {
	links  []Link
	leaves []ports // by leaf
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
	l := Link{Kind: LinkFabric,
		Capacity: float64(below) * float64(c.NICBandwidth) * c.NICEfficiency / c.Oversubscription}
	first := t.Base(t.Domains())
	for i := range count {
		up, down := l, l
		up.Name, down.Name = fmt.Sprintf("leaf%d/up", i), fmt.Sprintf("leaf%d/down", i)
		id := first + LinkID(2*i)
		t.fabric.links = append(t.fabric.links, up, down)
		t.fabric.leaves = append(t.fabric.leaves, ports{id, id + 1})
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
