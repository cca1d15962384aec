package nccl_test

import (
	"fmt"

	"trainsim/interconnect"
	"trainsim/interconnect/nccl"
)

// Eight H100 in one node: what NCCL takes for an all-reduce of 256 MiB.
func ExampleLibrary_Communicator() {
	top, err := interconnect.Build(interconnect.Config{
		GPUsPerNode: 8, Kind: interconnect.NVSwitch, ComputeCapability: 90,
		NVLinks: 18, NVLinkBandwidth: 25e9, NVLinkEfficiency: 0.82,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	lib, err := nccl.New(top, nccl.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	group, err := lib.Communicator(nccl.AllReduce, nccl.First(8))
	if err != nil {
		fmt.Println(err)
		return
	}
	p := group.Plan(nccl.AllReduce, 256<<20)
	fmt.Println(p.Algorithm, p.Protocol, p.Channels, "channels,", p.Uncontended())
	// Output: NVLS Simple 16 channels, 1.08207ms
}
