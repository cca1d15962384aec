// Package vshape has the pipeline schedules on two chunks a rank that go down
// the ranks and back up: the V of zero-bubble pipelines and of pipelines with
// controllable memory.
//
// Most of them lay a repeating building block out on a grid of slots, one row
// a rank and six slots a micro-batch, and then close the gaps at both ends.
//
// # Reading order
//
//   - kinds.go: the list of these schedules; pass.go: a micro-batch's way
//   - zbv.go: ZB-V as torch writes it
//   - greedy.go, greedyrounds.go: the order that follows from costs
//   - controllable.go, layout.go, livememory.go: V-Half and V-Min
//   - onefoneb.go: 1F1B on the V
//   - adaptive.go, buildingblock.go, warmup.go, cooldown.go, gapfill.go,
//     squeeze.go: the search over building blocks
//   - grid.go: the grid of the last two
//
// To add one, write a file with what fills its lists and add its [schedule.Kind]
// to [Kinds].
package vshape
