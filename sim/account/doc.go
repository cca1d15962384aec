// Package account accounts for the memory of a job. It replays the allocations
// of one rank of every pipeline rank through the caching allocator, in program
// order, which needs no clock.
//
// In reading order:
//
//   - account.go: the account of a rank, and of all pipeline ranks
//   - snapshot.go: the allocator at the peak, as PyTorch shows it
//   - explain.go, explainevaluation.go: the same memory from formulas
//   - inflight.go, kept.go, live.go: the activations that formulas speak of
//   - replay.go, evaluation.go: a step and the evaluation, action by action
//   - gathered.go, update.go, state.go: what a framework holds beside the model's
//     tensors, and when
//   - oom.go: an allocation that failed
//   - driver.go, timeline.go: what a simulation needs to know of the replay
//   - alloc.go: calls of the allocator
//   - outside.go: what lies outside of it
package account
