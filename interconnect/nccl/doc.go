// Package nccl models what NCCL sends over a topology: which algorithm, protocol
// and channels it chooses for a collective, the rings and trees over which the
// bytes go, and how long its kernels take.
//
// A Library is NCCL on one topology under one job's settings. A Communicator is
// a group of devices that run collectives together; its Plan of a collective is
// a transfer for interconnect.Network. For a ring all-reduce of S bytes over p
// ranks under the ideal model that is 2(p-1)(alpha + S/(p*B)).
//
// NCCL takes the nodes that NVLink joins (multi-node NVLink) for one: what is
// called a node here is one of the topology's NVLink domains.
//
// # Files
//
// In reading order: settings.go, operation.go and algorithm.go (what can be
// asked for); library.go, communicator.go and groups.go; plan.go, choice.go and
// send.go (from a call to its plan); tuner.go, constants.go, search.go (what NCCL
// estimates) and fits.go (what was measured); traffic.go and exchange.go (what a
// call puts on links); rings.go, netrings.go, islandrings.go, order.go and
// cycles.go (the ways of rings); widest.go (the best ring of a node);
// hierarchical.go; memory.go.
//
// To add a collective algorithm: it is a constant in algorithm.go, a case of
// supports and its bandwidth in tuner.go, its latency in constants.go, its
// channels in search.go, its traffic in traffic.go, and its pattern in choice.go.
package nccl
