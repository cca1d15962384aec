package nccl

import (
	"encoding/binary"
	"slices"

	"trainsim/interconnect"
	"trainsim/sim"
)

// none marks an absent card, device or link.
const none = -1

// group is the part of a communicator that is in one node.
type group struct {
	domain int
	*footprint
}

// footprint is where in its domain a communicator has devices. Nodes in which
// they are on the same places share it, and with it what only depends on that.
type footprint struct {
	domain int      // of the first group that has it
	places []int    // of the devices in the domain, in ring order
	cards  []int    // nearest network cards of the devices, in order
	chains []*chain // by ring over several nodes
	remote *remote  // of an exchange; nil until used
	local  []hop    // between all pairs, of an exchange; nil until used
}

// hop is a way between neighbours with its links, numbered from the domain's
// first.
type hop struct {
	uses    []interconnect.LinkUse
	latency sim.Time
}

// makeGroups splits the devices by node, nodes in order. A device twice is an
// error.
func (c *shape) makeGroups() error {
	sorted := slices.Sorted(slices.Values(c.devices))
	known := make(map[string]*footprint)
	var key []byte
	c.smallest = len(sorted)
	for first := 0; first < len(sorted); {
		domain := c.t.DomainOf(sorted[first])
		key = key[:0]
		next := first
		for ; next < len(sorted) && c.t.DomainOf(sorted[next]) == domain; next++ {
			if next > first && sorted[next] == sorted[next-1] {
				return c.twice(sorted[next])
			}
			key = binary.AppendUvarint(key, uint64(c.place(sorted[next])))
		}
		f := known[string(key)]
		if f == nil {
			f = c.newFootprint(domain, sorted[first:next])
			known[string(key)] = f
		}
		c.groups = append(c.groups, group{domain, f})
		c.largest, c.smallest = max(c.largest, next-first), min(c.smallest, next-first)
		first = next
	}
	return nil
}

// place returns a device's place in its domain.
func (c *shape) place(device int) int { return device % c.t.PerDomain() }

// device returns the device of a group at a place.
func (c *shape) device(domain, place int) int { return domain*c.t.PerDomain() + place }

func (c *shape) newFootprint(domain int, devices []int) *footprint {
	f := &footprint{domain: domain}
	for _, d := range devices {
		f.places = append(f.places, c.place(d))
		if card := c.t.Card(d); card != none && !slices.Contains(f.cards, card) {
			f.cards = append(f.cards, card)
		}
	}
	slices.Sort(f.cards)
	return f
}

// members returns the devices of a footprint's first group, in ring order.
func (c *shape) members(f *footprint) []int {
	devices := make([]int, len(f.places))
	for i, p := range f.places {
		devices[i] = c.device(f.domain, p)
	}
	return devices
}

// hopOf numbers links inside a domain from its first.
func (c *shape) hopOf(domain int, uses []interconnect.LinkUse) hop {
	h := hop{uses: uses, latency: c.t.Latency(uses)}
	for i := range uses {
		uses[i].Link -= c.t.Base(domain)
	}
	return h
}

// cards is the number of rings that can leave every node through a card of
// their own.
func (c *shape) cards() int {
	n := len(c.groups[0].cards)
	for _, g := range c.groups {
		n = min(n, len(g.cards))
	}
	return max(n, 1)
}

// nicPath is the farthest way from a device to its card.
func (c *shape) nicPath() interconnect.PathType {
	worst := interconnect.PathSelf
	if len(c.groups) == 1 {
		return worst
	}
	for _, d := range c.devices {
		worst = max(worst, c.t.CardPath(d, c.t.Card(d)))
	}
	return worst
}

// severalTrays says whether devices are in several machines of their domains.
func (c *shape) severalTrays(devices []int) bool {
	for _, d := range devices {
		if c.t.TrayOf(d) != c.t.TrayOf(devices[0]) {
			return true
		}
	}
	return false
}

// hopType is the class of the way between two devices of a node, as NCCL uses
// it: through host memory where peer-to-peer copies are not allowed.
func (c *shape) hopType(a, b int) interconnect.PathType {
	kind := c.t.PathType(a, b)
	if kind > c.level {
		return max(kind, interconnect.PathPHB)
	}
	return kind
}
