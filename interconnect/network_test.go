package interconnect_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/interconnect"
	"trainsim/interconnect/nccl"
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

func h100Node(nodes int) interconnect.Config {
	return interconnect.Config{
		Nodes: nodes, GPUsPerNode: 8, Kind: interconnect.NVSwitch, ComputeCapability: 90, CPU: "intel",
		NVLinks: 18, NVLinkBandwidth: 25e9, NVLinkLatency: sim.Microsecond,
		PCIeGen: 5, GPUsPerSwitch: 1, NICs: 8, NICBandwidth: 50e9, NICLatency: 5 * sim.Microsecond,
	}
}

func build(t testing.TB, c interconnect.Config) *interconnect.Topology {
	top, err := interconnect.Build(c)
	require.NoError(t, err)
	return top
}

// group is NCCL on a topology with the communicator of its first devices.
func group(t testing.TB, top *interconnect.Topology, n int, s nccl.Settings) (*nccl.Library, *nccl.Communicator) {
	lib, err := nccl.New(top, s)
	require.NoError(t, err)
	c, err := lib.Communicator(nccl.AllReduce, nccl.First(n))
	require.NoError(t, err)
	return lib, c
}

func TestRingAllReduceClosedForm(t *testing.T) {
	top, err := interconnect.Build(h100Node(1))
	require.NoError(t, err)
	for _, p := range []int{2, 4, 8} {
		_, c := group(t, top, p, nccl.Settings{Model: "ideal"})
		for _, size := range []int64{8, 1 << 10, 1 << 20, 1 << 30} {
			plan := c.Plan(nccl.AllReduce, size)
			alpha := sim.Microsecond
			want := 2*sim.Time(p-1)*alpha + sim.TransferTime(2*int64(p-1)*size/int64(p), 450e9)
			require.Equal(t, want, plan.Uncontended())
			require.Equal(t, want, runOne(t, top, &plan.Transfer))
		}
	}
}

func runOne(t *testing.T, top *interconnect.Topology, plans ...*interconnect.Transfer) sim.Time {
	var e sim.Engine
	n := interconnect.NewNetwork(&e, top)
	c := &collector{at: map[uint32]sim.Time{}}
	id := e.Register(c)
	for i, p := range plans {
		n.Start(p, 0, id, 0, uint32(i))
	}
	require.NoError(t, e.Run(context.Background()))
	require.Len(t, c.at, len(plans))
	return c.at[0]
}

func TestTwoSendsShareALink(t *testing.T) {
	top, err := interconnect.Build(h100Node(2))
	require.NoError(t, err)
	lib, _ := group(t, top, 16, nccl.Settings{})
	p := lib.Send(0, 8, 1<<30)
	alone := runOne(t, top, &p.Transfer)
	both := runOne(t, top, &p.Transfer, &p.Transfer)
	require.InEpsilon(t, float64(2*(alone-p.Latency)), float64(both-p.Latency), 1e-9)
}
