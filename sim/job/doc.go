// Package job makes a training job of a Config: the layout of its ranks, the
// schedule, the script of every pipeline rank, its communicators. Nothing runs
// here: package account replays the scripts' allocations, package step runs them,
// package bound says how fast they can be at most.
package job
