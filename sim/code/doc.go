// Package code is what the ranks of a training job run: straight-line
// instructions (kernels with their times, collectives, hand-offs, waits), the
// memory that comes and goes with each, and the compiler that makes them from a
// model's operators. It knows a device and a host, but no layout of ranks.
package code
