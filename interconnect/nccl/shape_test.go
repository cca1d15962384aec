package nccl

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/interconnect"
)

// Groups on the same places of other domains share their plans, whose links are
// those of a group made by itself.
func TestAlikeGroupsShareTheirPlans(t *testing.T) {
	c := nvswitch(90, 18, "intel")
	c.Nodes, c.NICs, c.NICBandwidth = 8, 8, 50e9
	for _, fabric := range []interconnect.Fabric{interconnect.NonBlocking, interconnect.FatTree, interconnect.Rails} {
		c.Fabric, c.NodesPerLeaf = fabric, 3
		top := build(t, c)
		lib := library(t, top, Settings{})
		group := func(l *Library, devices ...int) *Communicator {
			g, err := l.Communicator(AllReduce, devices)
			require.NoError(t, err)
			return g
		}
		first, other := group(lib, 0, 1, 4, 5), group(lib, 48, 49, 52, 53)
		assert.Equal(t, first.Shape(), other.Shape())
		assert.NotEqual(t, first.Shape(), group(lib, 48, 49, 52, 54).Shape())
		assert.Same(t, first.Plan(AllGather, 1<<20), other.Plan(AllGather, 1<<20))
		assert.Equal(t, top.Base(6), other.Base())

		over, moved := group(lib, 0, 9, 17), group(lib, 24, 33, 41)
		shared := over.Shape() == moved.Shape()
		assert.Equal(t, fabric == interconnect.NonBlocking, shared, "uplinks of leaf switches tell groups apart: %v", fabric)
		for _, devices := range [][]int{{48, 49, 52, 53}, {24, 33, 41}, {31, 38, 47, 63}} {
			for _, op := range Ops() {
				absolute := group(lib, devices...).Call(op, 1<<24)
				alone := group(library(t, top, Settings{}), devices...).Call(op, 1<<24)
				assert.Equal(t, linksOf(&alone), linksOf(&absolute), "%v of %v", op, devices)
				for _, u := range absolute.Links {
					if l := top.Link(absolute.Base + u.Link); l.Kind != interconnect.LinkFabric {
						assert.Contains(t, domainsOf(top, devices), int(absolute.Base+u.Link)/int(top.Base(1)), l.Name)
					}
				}
			}
		}
		assert.Equal(t, lib.Send(0, 9, 1<<20).Plan == lib.Send(24, 33, 1<<20).Plan, fabric == interconnect.NonBlocking)
		assert.Same(t, lib.Send(2, 5, 1<<20).Plan, lib.Send(58, 61, 1<<20).Plan)
	}
}

func linksOf(c *Call) map[interconnect.LinkID]float64 {
	out := make(map[interconnect.LinkID]float64)
	for _, u := range c.Links {
		out[c.Base+u.Link] = u.Weight
	}
	return out
}

func domainsOf(top *interconnect.Topology, devices []int) (out []int) {
	for _, d := range devices {
		out = append(out, top.DomainOf(d))
	}
	return out
}

// BenchmarkGroups plans every tensor-parallel group of a cluster.
func BenchmarkGroups(b *testing.B) {
	c := nvswitch(90, 18, "intel")
	c.Nodes, c.NICs, c.NICBandwidth = 1024, 8, 50e9
	top := build(b, c)
	for range b.N {
		lib := library(b, top, Settings{})
		for d := 0; d < top.Devices(); d += 4 {
			g, err := lib.Communicator(AllReduce, []int{d, d + 1, d + 2, d + 3})
			if err != nil {
				b.Fatal(err)
			}
			g.Plan(AllReduce, 1<<26)
		}
	}
}
