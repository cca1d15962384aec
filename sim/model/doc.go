// Package model turns a transformer into operators.
//
// A Spec (a Config cut by tensor and context parallelism for one micro-batch)
// builds a Chunk: the operators of a contiguous run of layers on one rank, in
// forward and in backward. Forward operators are written once; a tape derives
// the backward from them as autograd would, and recomputation runs the same
// forward code a second time inside the backward. Each operator says which
// kernel it launches, which tensors it reads and writes, and which collective
// it needs, never how long anything takes.
//
// Lifetimes follow from use alone: a tensor is allocated by the operator that
// writes it and freed after the last one that reads it. What lives from the
// forward into the backward is an activation, everything else a temporary; the
// published closed forms (34sbh + 5as^2b and its relatives, Korthikanti et al.
// 2022, arXiv 2205.05198) come out of this as a result.
package model
