// Package kinds has every pipeline schedule that can be built by name: GPipe,
// 1F1B and its interleaved, zero-bubble, bidirectional and asynchronous
// relatives. Package schedule/vshape adds those on the V placement.
//
// # Reading order
//
//   - kinds.go: the list of all schedules, and how one is found and built
//   - gpipe.go, breadthfirst.go: all forwards, then all backwards
//   - onefoneb.go, pipedream.go: one forward and one backward in turn
//   - interleaved.go, grouped.go: the same over several chunks a rank
//   - zerobubble.go: backwards split into input and weight gradients
//   - greedy.go, greedyrounds.go: the order that follows from costs
//   - hanayo.go, dualpipe.go, chimera.go: waves, and two directions at once
//
// To add a schedule, write a file with a function that returns its
// [schedule.Kind], with what checks its counts and what fills the lists of its
// ranks, and name that function in [All]: lists, help, scenarios and the tests of
// all schedules then know it.
package kinds
