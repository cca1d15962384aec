package nccl

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/interconnect"
	"trainsim/sim"
)

func TestP2PLevels(t *testing.T) {
	top := build(t, interconnect.Config{GPUsPerNode: 8, GPUsPerSwitch: 2, GPUsPerUpperSwitch: 4, Kind: interconnect.NVLinkPairs, NVLinks: 4, NVLinkBandwidth: 14e9})
	hosted := func(a, b int, s Settings) bool {
		for _, u := range top.Route(a, b, library(t, top, s).p2pLevel(8)).Uses {
			if top.Link(u.Link).Kind == interconnect.LinkMemory {
				assert.Equal(t, 2.0, u.Weight, "written and read")
				return true
			}
		}
		return false
	}
	for _, c := range []struct {
		s                  Settings
		bridge, upper, sys bool
	}{
		{Settings{}, false, false, true},
		{Settings{P2PLevel: "NVL"}, false, true, true},
		{Settings{P2PLevel: "sys"}, false, false, false},
		{Settings{P2PLevel: "4"}, false, false, false},
		{Settings{P2PLevel: "LOC"}, true, true, true},
		{Settings{P2PDisable: true}, true, true, true},
	} {
		assert.Equal(t, c.bridge, hosted(0, 1, c.s), "%+v NVLink", c.s)
		assert.Equal(t, c.upper, hosted(0, 2, c.s), "%+v PXB", c.s)
		assert.Equal(t, c.sys, hosted(0, 4, c.s), "%+v SYS", c.s)
	}
	small := build(t, interconnect.Config{GPUsPerNode: 2, CPU: "amd"})
	assert.Equal(t, interconnect.PathSYS, library(t, small, Settings{}).p2pLevel(2), "two GPUs on AMD copy over the sockets")
	consumer := build(t, interconnect.Config{GPUsPerNode: 2, CPU: "amd", NoP2P: true})
	assert.Equal(t, interconnect.PathNVB, library(t, consumer, Settings{P2PLevel: "SYS"}).p2pLevel(2), "what the driver lacks no setting brings")
}

func build(t testing.TB, c interconnect.Config) *interconnect.Topology {
	top, err := interconnect.Build(c)
	require.NoError(t, err)
	return top
}

func library(t testing.TB, top *interconnect.Topology, s Settings) *Library {
	lib, err := New(top, s)
	require.NoError(t, err)
	return lib
}

// first is the communicator of a topology's first devices.
func first(t testing.TB, top *interconnect.Topology, n int, s Settings) *Communicator {
	c, err := library(t, top, s).Communicator(AllReduce, First(n))
	require.NoError(t, err)
	return c
}

// ender notes when a transfer ends.
type ender struct{ at sim.Time }

func (e *ender) Handle(k *sim.Engine, _ uint16, _ uint32) error {
	e.at = k.Now()
	return nil
}

// simulated runs a plan alone on the network.
func simulated(t *testing.T, top *interconnect.Topology, p *Plan) sim.Time {
	var (
		engine sim.Engine
		end    ender
	)
	interconnect.NewNetwork(&engine, top).Start(&p.Transfer, 0, engine.Register(&end), 0, 0)
	require.NoError(t, engine.Run(context.Background()))
	return end.at
}
