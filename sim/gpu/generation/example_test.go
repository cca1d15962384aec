package generation_test

import (
	"fmt"

	"trainsim/sim/gpu/generation"
)

// What a GPU can do is asked of its generation.
func ExampleOf() {
	for _, capability := range []int{80, 90} {
		g := generation.Of(capability)
		fmt.Println(g.Name, g.FP8, g.NCCL.NVLS.Supported, g.CublasWorkspace)
	}
	// Output:
	// ampere false false 8320KiB
	// hopper true true 32MiB
}
