package job

import (
	"fmt"

	"trainsim/sim"
	"trainsim/sim/code"
	"trainsim/sim/model"
)

// handOver is the usual cost of a collective's two stream changes, as profiles
// show them.
const handOver = 12 * sim.Microsecond

// Arrival is what a collective inside of a layer takes longer for each rank
// beyond the first than NCCL's own benchmark shows. SimuMax's fit of all-gathers
// as PyTorch runs them on eight B200 has 9.2 us a rank (b200_bf16_ceperm.json),
// of which NCCL's benchmark has 1.2 under LL and 7.3 under Simple, 4.2 between.
const Arrival = 5 * sim.Microsecond

// BlockedLaunch is what an operator costs beside its own time on the host when
// the host waits for its kernels one by one: the CPU wakes up and launches into
// an idle GPU. Fitted on a random half of BLOOM's layout sweep.
const BlockedLaunch = 210 * sim.Microsecond

// LoopLaunch is the least time between two products that Transformer Engine's
// GroupedLinear launches in its loop over experts: in SimuMax's table of them on
// B200 the seven shortest have 8.6 to 9.2 us an expert, whatever their size, and
// 8.8 in the middle.
const LoopLaunch = 8800 * sim.Nanosecond

// Frameworks lists the values of host.framework.
func Frameworks() []string {
	return []string{"megatron", "deepspeed", "eager", "compiled", "cuda-graphs", "none"}
}

// HostCosts returns what the framework's host spends. Megatron-Core, which
// trains with Transformer Engine, does not time its actions unless told to, and
// posts hand-offs without waiting, as cheaply as plain PyTorch.
//
// Megatron's figures are fitted on published single-node step times of launch-
// bound models (vTrain, Bang et al. 2024, validation runs on A100; the rows of
// one stage, hidden 1024 and one sequence, then the rows of several stages for
// the hand-off): a layer's forward, recomputation and backward take the host
// 3.2 ms there, each collective 60 us more, each hand-off 650 us. Eager PyTorch dispatches a plain
// operator in about 10 us on current server CPUs, of which one of ours is two
// or three; compiled code drops Python; a CUDA graph replays at about 1 us a
// node (PyTorch's CUDA graphs announcement, 2021).
func (c *Config) HostCosts() (code.HostCosts, error) {
	h, err := hostCosts(c.Host.Framework)
	h.Loop = LoopLaunch
	if c.megatron() && c.modules() == model.EngineModules {
		h.HandOff, h.SyncActions = 100*sim.Microsecond, false
	}
	return h, err
}

// hostCosts returns the cost table of a framework.
func hostCosts(framework string) (code.HostCosts, error) {
	us := sim.Microsecond
	switch framework {
	case "", "megatron", "deepspeed": // Megatron-DeepSpeed: the same modules
		return code.HostCosts{Forward: 70 * us, Backward: 35 * us, Collective: 60 * us, HandOver: handOver, HandOff: 650 * us, Optimizer: 20 * us, Sync: 20 * us, SyncActions: true, SyncP2P: true}, nil
	case "eager":
		return code.HostCosts{Forward: 30 * us, Backward: 15 * us, Collective: 30 * us, HandOver: handOver, HandOff: 100 * us, Optimizer: 20 * us, Sync: 20 * us}, nil
	case "compiled":
		return code.HostCosts{Forward: 8 * us, Backward: 8 * us, Collective: 20 * us, HandOver: handOver, HandOff: 50 * us, Optimizer: 10 * us, Sync: 20 * us}, nil
	case "cuda-graphs":
		return code.HostCosts{Forward: us, Backward: us, Collective: us, Optimizer: us, Sync: 20 * us}, nil
	case "none":
		return code.HostCosts{}, nil
	}
	return code.HostCosts{}, fmt.Errorf("framework %q is unknown; write one of %v", framework, Frameworks())
}
