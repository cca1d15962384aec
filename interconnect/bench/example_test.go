package bench_test

import (
	"context"
	"fmt"

	"trainsim/interconnect"
	"trainsim/interconnect/bench"
	"trainsim/interconnect/nccl"
)

// What nccl-tests would print for an all-reduce over four A100.
func ExampleBench_Run() {
	top, err := interconnect.Build(interconnect.Config{
		GPUsPerNode: 4, Kind: interconnect.NVSwitch, ComputeCapability: 80, NVLinks: 12, NVLinkBandwidth: 25e9, NVLinkEfficiency: 0.82,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := bench.New(top, nccl.Settings{}, nccl.AllReduce, 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	sizes, err := bench.ParseSizes("1M..1G*32")
	if err != nil {
		fmt.Println(err)
		return
	}
	table, err := b.Run(context.Background(), sizes)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range table.Rows {
		fmt.Printf("%d B: %v, %.0f GB/s, %s\n", r.Bytes, r.Time, r.BusBW/1e9, r.Algorithm)
	}
	// Output:
	// 1048576 B: 30.2956us, 52 GB/s, Ring
	// 33554432 B: 296.032us, 170 GB/s, Ring
	// 1073741824 B: 7.1664ms, 225 GB/s, Ring
}
