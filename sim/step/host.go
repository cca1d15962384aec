package step

import (
	"fmt"

	"trainsim/sim"
	"trainsim/sim/model"
)

// hostCost is what the CPU side of a rank spends, in time.
type hostCost struct {
	// forward and backward are spent on each operator of the model. A forward
	// operator is Python code, its backward comes from the autograd engine.
	forward, backward sim.Time
	// collective is spent to issue a collective, handOff to post a send or a
	// receive between stages.
	collective, handOff sim.Time
	// handOver is what a blocking collective costs the GPU beside its own time:
	// it runs on a stream of NCCL's, so that two events are waited for.
	handOver sim.Time
	// loop is spent on each kernel that compiled code launches in a loop.
	loop sim.Time
	// optimizer is spent on each kernel of the optimizer's step.
	optimizer sim.Time
	// sync is what the host needs to get going after it has waited for the GPU.
	sync sim.Time
	// syncActions: the host waits for the GPU behind every forward and every
	// backward, as Megatron-LM's timers do.
	syncActions bool
	// syncP2P: blocking sends and receives stop the host too (Megatron-LM's
	// batch_p2p_sync).
	syncP2P bool
}

// handOver is the usual cost of a collective's two stream changes, as profiles
// show them.
const handOver = 12 * sim.Microsecond

// arrival is what a collective inside of a layer takes longer for each rank
// beyond the first than NCCL's own benchmark shows. SimuMax's fit of all-gathers
// as PyTorch runs them on eight B200 has 9 us a rank (b200_bf16_ceperm.json).
const arrival = 5 * sim.Microsecond

// blockedLaunch is what an operator costs beside its own time on the host when
// the host waits for its kernels one by one: the CPU wakes up and launches into
// an idle GPU. Fitted on a random half of BLOOM's layout sweep.
const blockedLaunch = 210 * sim.Microsecond

// loopLaunch is the least time between two products that Transformer Engine's
// GroupedLinear launches in its loop over experts: SimuMax's table of them on
// B200 has 9 us an expert for the smallest, whatever their size.
const loopLaunch = 9 * sim.Microsecond

// Frameworks lists the values of host.framework.
func Frameworks() []string {
	return []string{"megatron", "deepspeed", "eager", "compiled", "cuda-graphs", "none"}
}

// hostCosts returns what the framework's host spends. Megatron-Core, which
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
func (c *Config) hostCosts() (hostCost, error) {
	h, err := hostCosts(c.Host.Framework)
	h.loop = loopLaunch
	if c.megatron() && c.modules() == model.EngineModules {
		h.handOff, h.syncActions = 100*sim.Microsecond, false
	}
	return h, err
}

// hostCosts returns the cost table of a framework.
func hostCosts(framework string) (hostCost, error) {
	us := sim.Microsecond
	switch framework {
	case "", "megatron", "deepspeed": // Megatron-DeepSpeed: the same modules
		return hostCost{forward: 70 * us, backward: 35 * us, collective: 60 * us, handOver: handOver, handOff: 650 * us, optimizer: 20 * us, sync: 20 * us, syncActions: true, syncP2P: true}, nil
	case "eager":
		return hostCost{forward: 30 * us, backward: 15 * us, collective: 30 * us, handOver: handOver, handOff: 100 * us, optimizer: 20 * us, sync: 20 * us}, nil
	case "compiled":
		return hostCost{forward: 8 * us, backward: 8 * us, collective: 20 * us, handOver: handOver, handOff: 50 * us, optimizer: 10 * us, sync: 20 * us}, nil
	case "cuda-graphs":
		return hostCost{forward: us, backward: us, collective: us, optimizer: us, sync: 20 * us}, nil
	case "none":
		return hostCost{}, nil
	}
	return hostCost{}, fmt.Errorf("framework %q is unknown; write one of %v", framework, Frameworks())
}
