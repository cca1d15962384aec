// Package bound says what no simulation of a job can fall below, in time and in
// memory: what a search may discard a layout by.
//
// A simulated step is the longest path through its actions: an action begins when
// its rank is free and its input is there. Durations that are too short can only
// shorten that path, so that the path of the same program with every kernel,
// collective and hand-off alone on the machine is a lower bound.
//
// In reading order:
//
//   - bound.go: the bound of a job that is built
//   - path.go: the longest path through the instructions of an action
//   - bounder.go: the looser bounds of thousands of jobs that are not built
//   - steps.go: a step and its memory, from the costs of chunks
//   - chunks.go: the least costs of a chunk of layers
//   - collectives.go: the least time of a collective
package bound
