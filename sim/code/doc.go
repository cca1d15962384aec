// Package code is what the ranks of a training job run: straight-line
// instructions (kernels with their times, collectives, hand-offs, waits), the
// memory that comes and goes with each, and the compiler that makes them from a
// model's operators. It knows a device and a host, but no layout of ranks.
//
// In reading order:
//
//   - action.go: an entry of a rank's script, one operation of the schedule or
//     two that overlap
//   - chunk.go: the operators of a chunk of layers, and what each frees
//   - pair.go: two blocks that overlap become one
//   - emitter.go: operators become the instructions of a block
//   - compiler.go: times of kernels, numbers of collectives and names
//   - instr.go: instructions and blocks
package code
