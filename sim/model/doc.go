// Package model turns a model into operators.
//
// A model is a list of layers between two ends (Stack), which its family makes of
// a Config. A Spec, a Config cut by tensor and context parallelism for one
// micro-batch, builds a Chunk: the operators of a contiguous run of layers on one
// rank, in forward and in backward. A layer writes its forward once; a tape
// derives the backward from it as autograd would, and recomputation runs the same
// forward code a second time inside the backward. Each operator says which
// kernel it launches, which tensors it reads and writes, and which collective
// it needs, never how long anything takes.
//
// Lifetimes follow from use alone: a tensor is allocated by the operator that
// writes it and freed after the last one that reads it. What lives from the
// forward into the backward is an activation, everything else a temporary; the
// published closed forms (34sbh + 5as^2b and its relatives, Korthikanti et al.
// 2022, arXiv 2205.05198) come out of this as a result.
//
// To add a kind of layer: it is a type with the methods of [Layer] (what comes in,
// its operators, its parameters) in a file of its own, and a [Family] that puts it
// into a Stack (the transformer, or one that
// [Register] adds); the keys that it needs are fields of Config with their checks in
// problems.go and their texts in scenarios/keys. Files, to read in this order:
//
//	config.go                        the keys of a model
//	problems.go, layout.go           what is wrong with them, alone and under a layout
//	spec.go                          a model cut for one rank and micro-batch
//	layer.go, stack.go               layers and families; stacks and runs of layers
//	op.go                            operators, tensors and chunks: what comes out
//	chunk.go, checkpoint.go          a chunk is built of its layers
//	builder.go, fsdp.go              what layers build with; gathered parameters
//	transformer.go                   the transformer's layers
//	attention.go, unfused.go, latent.go
//	experts.go, grouped.go           mixtures of experts
//	ends.go                          embedding, head and loss
//	linear.go, lineargrad.go         matrix products over tensor-parallel ranks
//	fp8.go, lora.go, adapters.go     and what precision and adapters change
//	ops.go                           norms, activations, residuals
//	counts.go                        closed forms of parameters and operations
package model
