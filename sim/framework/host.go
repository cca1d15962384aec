package framework

import "trainsim/sim"

// Host is what the CPU side of a rank spends, in time.
type Host struct {
	// Forward and Backward are spent on each operator of the model. A forward
	// operator is Python code, its backward comes from the autograd engine.
	Forward  sim.Time `toml:"forward"`
	Backward sim.Time `toml:"backward"`
	// Collective is spent to issue a collective, HandOff to post a send or a
	// receive between stages.
	Collective sim.Time `toml:"collective"`
	HandOff    sim.Time `toml:"hand_off"`
	// HandOver is what a blocking collective costs the GPU beside its own time:
	// it runs on a stream of NCCL's, so that two events are waited for.
	HandOver sim.Time `toml:"hand_over"`
	// Arrival is what a collective inside of a layer takes longer for each rank
	// beyond the first than NCCL's own benchmark shows.
	Arrival sim.Time `toml:"arrival"`
	// Loop is spent on each kernel that compiled code launches in a loop.
	Loop sim.Time `toml:"loop"`
	// Optimizer is spent on each kernel of the optimizer's step.
	Optimizer sim.Time `toml:"optimizer"`
	// Sync is what the host needs to get going after it has waited for the GPU.
	Sync sim.Time `toml:"sync"`
	// Blocked is what an operator costs beside its own time on the host when the
	// host waits for its kernels one by one (CUDA_LAUNCH_BLOCKING=1).
	Blocked sim.Time `toml:"blocked"`
	// SyncActions: the host waits for the GPU behind every forward and every
	// backward, as Megatron-LM's timers do.
	SyncActions bool `toml:"sync_actions"`
	// SyncP2P: blocking sends and receives stop the host too (Megatron-LM's
	// batch_p2p_sync).
	SyncP2P bool `toml:"sync_p2p"`
}
