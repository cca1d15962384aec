package step

import (
	"fmt"

	"trainsim/sim"
)

// hostCost is what the CPU side of a rank spends.
type hostCost struct {
	operator sim.Time // to issue one operator
	sync     sim.Time // to get going again after it has waited for the GPU
	// syncP2P: blocking sends and receives stop the host too
	// (Megatron-LM's batch_p2p_sync).
	syncP2P bool
}

// Frameworks lists the values of host.framework.
func Frameworks() []string { return []string{"megatron", "eager", "compiled", "cuda-graphs", "none"} }

// hostCosts returns the cost table of a framework. The cost of an operator is
// what PyTorch's dispatcher, autograd and the launch take together: eager
// operators in Python take 8 to 12 us each on current server CPUs, fused
// modules spend less an operator, compiled code drops Python, and a CUDA graph
// replays with about 1 us a node (PyTorch's CUDA graphs announcement, 2021).
func hostCosts(framework string) (hostCost, error) {
	us := sim.Microsecond
	switch framework {
	case "", "megatron":
		return hostCost{operator: 7 * us, sync: 20 * us, syncP2P: true}, nil
	case "eager":
		return hostCost{operator: 10 * us, sync: 20 * us}, nil
	case "compiled":
		return hostCost{operator: 4 * us, sync: 20 * us}, nil
	case "cuda-graphs":
		return hostCost{operator: 1 * us, sync: 20 * us}, nil
	case "none":
		return hostCost{}, nil
	}
	return hostCost{}, fmt.Errorf("framework %q is unknown; write one of %v", framework, Frameworks())
}
