// Package job makes a training job of a Config: the layout of its ranks, the
// schedule, the script of every pipeline rank, its communicators. Nothing runs
// here: package account replays the scripts' allocations, package step runs them,
// package bound says how fast they can be at most.
//
// In reading order:
//
//   - config.go: the configuration, table by table as in a scenario
//   - job.go: Build, step by step
//   - misfits.go, spec.go, framework.go: the model as a rank sees it, and
//     what the framework makes of it
//   - program.go, layers.go, balance.go, stagecost.go: the schedule, and layers to
//     its stages, evenly, by memory or by costs
//   - script.go, evaluation.go, lengths.go: what a pipeline rank runs in a step, in
//     the evaluation after it, and on sequences of other lengths
//   - hooks.go, fsdp.go, update.go: what data parallelism adds to layers, and the
//     optimizer's step
//   - gradientgroups.go: which ranks share a parameter's gradient
//   - optimizers.go, state.go: what training keeps of a parameter
//   - groups.go: communicators
//   - shards.go, layout.go: ranks and their places
//   - data.go, faults.go: lengths, evaluation, prefetching and faults
//   - work.go: what a step processes
package job
