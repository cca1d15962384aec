// Package step simulates one training step: it builds the job that a Config
// describes and runs its ranks on the engine.
//
// Build turns the Config into code: for every pipeline rank a script of the
// schedule's actions, each a list of instructions (kernels with their times,
// collectives, sends and receives). Account replays the allocations of one
// rank of each stage through the caching allocator, in program order, which
// needs no clock. Run lets every rank execute its script as an actor:
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
