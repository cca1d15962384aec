package interconnect_test

import (
	"context"
	"fmt"
	"strings"

	"trainsim/interconnect"
	"trainsim/sim"
)

// Eight H100 in one node: what NCCL takes for an all-reduce of 256 MiB.
func ExampleTopology_Communicator() {
	top, err := interconnect.Build(interconnect.Config{
		GPUsPerNode: 8, Kind: interconnect.NVSwitch, ComputeCapability: 90,
		NVLinks: 18, NVLinkBandwidth: 25e9, NVLinkEfficiency: 0.82,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	group, err := top.Communicator([]int{0, 1, 2, 3, 4, 5, 6, 7}, interconnect.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	p := group.Plan(interconnect.AllReduce, 256<<20)
	fmt.Println(p.Algorithm, p.Protocol, p.Channels, "channels,", p.Uncontended(top))
	// Output: NVLS Simple 16 channels, 1.08207ms
}

// printer prints when transfers end.
type printer struct{}

func (printer) Handle(k *sim.Engine, _ uint16, arg uint32) error {
	fmt.Println("transfer", arg, "ends at", k.Now())
	return nil
}

// Two messages that leave through one network card share it.
func ExampleNetwork() {
	top, err := interconnect.Build(interconnect.Config{
		Nodes: 2, GPUsPerNode: 2, Sockets: 1, NICs: 1, NICBandwidth: 25e9, PCIeGen: 5,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var engine sim.Engine
	net := interconnect.NewNetwork(&engine, top)
	id := engine.Register(printer{})
	ideal := interconnect.Settings{Model: "ideal"}
	a, b := top.SendPlan(0, 2, 25e6, ideal), top.SendPlan(1, 3, 50e6, ideal)
	net.Start(&a, id, 0, 0)
	net.Start(&b, id, 0, 1)
	if err := engine.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// transfer 0 ends at 2.0006ms
	// transfer 1 ends at 3.0006ms
}

// A posted table, with two cells that lost the space between them.
func ExampleParseTopo() {
	m, err := interconnect.ParseTopo(strings.NewReader(`
	GPU0	GPU1	GPU2	GPU3	CPU Affinity	NUMA Affinity
GPU0	 X 	NV4	SYSSYS	0-15	0
GPU1	NV4	 X 	SYS	SYS	0-15	0
GPU2	SYS	SYS	 X 	NV4	16-31	1
GPU3	SYS	SYS	NV4	 X 	16-31	1
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	top, err := interconnect.Build(interconnect.Config{Topology: m, NVLinkBandwidth: 25e9})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(top.Islands(0), top.PathType(0, 3))
	// Output: [[0 1] [2 3]] SYS
}
