package gpu_test

import (
	"fmt"

	"trainsim/scenarios"
	"trainsim/sim/gpu"
)

// The time of a feed-forward layer's GEMM on an H100, and the share of the
// peak that it reaches.
func ExampleDevice_Time() {
	d, err := scenarios.LoadGPU("h100-sxm5-80gb")
	if err != nil {
		fmt.Println(err)
		return
	}
	k := gpu.Kernel{Kind: gpu.GEMM, M: 8192, N: 28672, K: 8192, In: gpu.BF16, Out: gpu.BF16}
	t := d.Time(&k)
	fmt.Printf("%.1f ms, %.0f %% of the peak\n", 1e3*t.Seconds(), 100*k.FLOPs()/t.Seconds()/d.Peak(gpu.BF16))
	// Output: 5.5 ms, 71 % of the peak
}
