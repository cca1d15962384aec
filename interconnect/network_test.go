package interconnect

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/sim"
)

// collector notes when each transfer ends.
type collector struct {
	at map[uint32]sim.Time
}

func (c *collector) Handle(k *sim.Engine, _ uint16, arg uint32) error {
	c.at[arg] = k.Now()
	return nil
}

func h100Node(nodes int) Config {
	return Config{
		Nodes: nodes, GPUsPerNode: 8, Kind: NVSwitch, ComputeCapability: 90, CPU: "intel",
		NVLinks: 18, NVLinkBandwidth: 25e9, NVLinkLatency: sim.Microsecond,
		PCIeGen: 5, GPUsPerSwitch: 1, NICs: 8, NICBandwidth: 50e9, NICLatency: 5 * sim.Microsecond,
	}
}

func devices(n int) []int {
	d := make([]int, n)
	for i := range d {
		d[i] = i
	}
	return d
}

func TestRingAllReduceClosedForm(t *testing.T) {
	top, err := Build(h100Node(1))
	require.NoError(t, err)
	for _, p := range []int{2, 4, 8} {
		c, err := top.Communicator(devices(p), Settings{Model: "ideal"})
		require.NoError(t, err)
		for _, size := range []int64{8, 1 << 10, 1 << 20, 1 << 30} {
			plan := c.Plan(AllReduce, size)
			alpha := sim.Microsecond
			want := 2*sim.Time(p-1)*alpha + sim.TransferTime(2*int64(p-1)*size/int64(p), 450e9)
			require.Equal(t, want, plan.Uncontended(top))
			require.Equal(t, want, runOne(t, top, &plan))
		}
	}
}

func runOne(t *testing.T, top *Topology, plans ...*Plan) sim.Time {
	var e sim.Engine
	n := NewNetwork(&e, top)
	c := &collector{at: map[uint32]sim.Time{}}
	id := e.Register(c)
	for i, p := range plans {
		n.Start(p, id, 0, uint32(i))
	}
	require.NoError(t, e.Run(context.Background()))
	require.Zero(t, n.Active())
	require.Len(t, c.at, len(plans))
	return c.at[0]
}

func TestTwoSendsShareALink(t *testing.T) {
	top, err := Build(h100Node(2))
	require.NoError(t, err)
	p := top.SendPlan(0, 8, 1<<30, Settings{})
	alone := runOne(t, top, &p)
	both := runOne(t, top, &p, &p)
	require.InEpsilon(t, float64(2*(alone-p.Latency)), float64(both-p.Latency), 1e-9)
}
