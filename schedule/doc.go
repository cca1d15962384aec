// Package schedule builds, checks and measures pipeline-parallel schedules.
//
// A [Program] is what every pipeline rank of a training step executes: one
// ordered list of [Action] a rank. [Build] makes one from a schedule's name
// and its counts, [ParseCSV] reads one in the notation of
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
package schedule
