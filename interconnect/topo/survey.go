package topo

import (
	"trainsim/interconnect"
	"trainsim/interconnect/nccl"
)

// Survey is what a node's topology means for placing work.
type Survey struct {
	// Islands are the groups of devices that NVLink joins.
	Islands [][]int
	// Ring is the best order found of a ring over all devices.
	Ring []int
	// Bottleneck is the slowest hop of that ring.
	Bottleneck nccl.Hop
	// Groups are the devices that belong together in one tensor-parallel
	// group, and Joined is the farthest path inside one.
	Groups [][]int
	Joined interconnect.PathType
}

// NewSurvey looks at a topology's first node. A node of one device has a ring of
// one and no bottleneck.
func NewSurvey(t *interconnect.Topology) (*Survey, error) {
	all := nccl.First(t.PerDomain())
	lib, err := nccl.New(t, nccl.Settings{})
	if err != nil {
		return nil, err
	}
	c, err := lib.Communicator(nccl.AllReduce, all)
	if err != nil {
		return nil, err
	}
	s := &Survey{Islands: t.Islands(all)}
	s.Ring, s.Bottleneck = c.WidestRing()
	s.Groups, s.Joined = tensorGroups(t, all)
	return s, nil
}

// tensorGroups returns the nearest groups that have more than one device:
// NVLink islands, else what shares PCIe switches, a host bridge, a socket.
func tensorGroups(t *interconnect.Topology, devices []int) ([][]int, interconnect.PathType) {
	for _, level := range []interconnect.PathType{
		interconnect.PathNVL, interconnect.PathPIX, interconnect.PathPXB, interconnect.PathPHB, interconnect.PathNODE,
	} {
		groups := groupsWithin(t, devices, level)
		if len(groups[0]) > 1 {
			return groups, level
		}
	}
	return [][]int{devices}, interconnect.PathSYS
}

// groupsWithin splits devices of one node into those that paths up to a level
// connect.
func groupsWithin(t *interconnect.Topology, devices []int, level interconnect.PathType) [][]int {
	if level == interconnect.PathNVL {
		return t.Islands(devices)
	}
	seen := make(map[int]bool)
	var groups [][]int
	for _, a := range devices {
		if seen[a] {
			continue
		}
		var group []int
		for _, b := range devices {
			if !seen[b] && t.PathType(a, b) <= level {
				seen[b] = true
				group = append(group, b)
			}
		}
		groups = append(groups, group)
	}
	return groups
}
