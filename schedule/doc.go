// Package schedule holds pipeline-parallel schedules: what they are, and how
// they are checked, measured, read and written.
//
// A [Program] is what every pipeline rank of a training step executes: one
// ordered list of [Action] a rank. Package schedule/kinds makes one from a
// schedule's name and its counts, [ParseCSV] reads one in the notation of
// torch.distributed.pipelining, [Program.Check] proves that it is complete and
// cannot deadlock, and [Program.Execute] gives its times under idealised costs
// (latency only, no bandwidth, sender never blocked). The package knows no
// clock, no device and no network: whole simulations replay a Program with
// real kernels and real links.
//
// # Notation
//
// p pipeline ranks run m micro-batches a step; each rank holds v model chunks
// (virtual stages). A chunk on a rank is one global stage of the model; which
// one is the [Placement]'s matter. The actions are F (forward), I (backward
// with respect to the input only), W (backward with respect to the weights
// only) and B (full backward, I and W fused). The papers on zero-bubble
// schedules write B for what is I here; DeepSeek writes B for the full
// backward, as here.
//
// # Execution rules
//
// A rank runs its list strictly in order, one action (or one overlapped pair)
// at a time. F of stage s needs F of stage s-1; I or B of stage s needs its
// own F and the I or B of stage s+1; W needs its own I. A fused B hands the
// gradient upstream only when it ends. An overlapped pair starts when the
// inputs of both halves are there and both halves end together.
//
// # Reading order
//
//   - action.go, program.go: what a rank does, and which stage its chunks are
//   - kind.go, options.go, costs.go, costfile.go, system.go, counts.go: what a
//     schedule is built from, and which counts are refused
//   - execute.go, measure.go: times, idle time, live activations, messages
//   - csvread.go, csvcell.go, csvplace.go, csvwrite.go: files in torch's notation
//   - systems.go, dualpipecomm.go, comm.go, idle.go: sends and receives in the
//     order of a training system
//   - check.go, deadlock.go, commcheck.go: whether a program can run
//   - wiring.go: the placement as tables, for all that replay a program
//
// To add a schedule, see package schedule/kinds; a form in which one is shown,
// package schedule/draw. To add a training system's
// order of sends and receives, add it to system.go and to [Program.LowerAs].
package schedule
