package code

import "trainsim/sim"

// HostCosts is what the CPU side of a rank spends, in time.
type HostCosts struct {
	// Forward and Backward are spent on each operator of the model. A forward
	// operator is Python code, its backward comes from the autograd engine.
	Forward, Backward sim.Time
	// Collective is spent to issue a collective, HandOff to post a send or a
	// receive between stages.
	Collective, HandOff sim.Time
	// HandOver is what a blocking collective costs the GPU beside its own time:
	// it runs on a stream of NCCL's, so that two events are waited for.
	HandOver sim.Time
	// Loop is spent on each kernel that compiled code launches in a loop.
	Loop sim.Time
	// Optimizer is spent on each kernel of the optimizer's step.
	Optimizer sim.Time
	// Sync is what the host needs to get going after it has waited for the GPU.
	Sync sim.Time
	// SyncActions: the host waits for the GPU behind every forward and every
	// backward, as Megatron-LM's timers do.
	SyncActions bool
	// SyncP2P: blocking sends and receives stop the host too (Megatron-LM's
	// batch_p2p_sync).
	SyncP2P bool
}
