// Package step simulates one training step: every rank of a job executes its
// script as an actor on the engine.
//
//   - kernels run on the compute stream one after the other, each once the
//     host has launched it;
//   - a collective starts when its last member arrives, in the order of its
//     group's stream, and takes as long as the interconnect says under
//     whatever else is on the same links;
//   - a hand-off between stages is a message from rank to rank.
//
// Every moment of a rank is booked to one cause (computation, exposed
// communication of one kind, host, optimizer, bubble), so the seconds of a
// stage add up to its step exactly. A run that ends with unfinished work is a
// deadlock, reported with who waits for whom.
//
// In reading order:
//
//   - run.go: a job is put on an engine and run, with its faults and without
//   - result.go, oomtime.go, totals.go, links.go: what a run did
//   - phases.go: the steps and evaluations of a run, one after the other
//   - unfinished.go: why ranks wait for ever
//   - machine.go: ranks as actors, instruction by instruction
//   - kernels.go, streams.go, messages.go: kernels, collectives, hand-offs
//   - overlap.go: what collectives that overlap take from kernels
//   - actions.go: where actions begin and end
//   - steady.go: the step of schedules that never flush
//   - driver.go, faults.go: what slows a rank
//   - causes.go: what a rank's time is booked to
//   - record.go, linkmeter.go: what a recording keeps
//   - actors.go: the state of ranks and messages, and their places
//   - fold.go, classes.go: ranks that cannot differ, simulated once
package step
