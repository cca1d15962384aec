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
package step
