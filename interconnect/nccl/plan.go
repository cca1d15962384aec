package nccl

import (
	"trainsim/interconnect"
	"trainsim/sim"
)

// Plan is one call of NCCL's, ready to start as often as needed: a collective of
// a communicator, or a message.
type Plan struct {
	interconnect.Transfer
	Op        Op
	Algorithm Algorithm
	Protocol  Protocol
	Channels  int
	// Message is the size of the operation as the caller gave it.
	Message int64
	// BusFactor turns Message over time into nccl-tests' bus bandwidth.
	BusFactor float64
}

// newPlan is a plan that takes no time.
func newPlan(op Op, a Algorithm, bytes int64, busFactor float64) *Plan {
	p := &Plan{Op: op, Algorithm: a, Protocol: Simple, Message: bytes, BusFactor: busFactor}
	p.Bottleneck = -1
	return p
}

// carry fills the transfer from what one byte of the message puts on links;
// limit is the plan's own limit in bytes of the message a second, 0 for none.
func (p *Plan) carry(t *interconnect.Topology, tr *interconnect.Traffic, latency sim.Time, limit float64) {
	p.Transfer = t.Transfer(tr, p.Message, latency, limit)
}

// Over returns the call with other links, numbered from 0, see Transfer.Over.
func (c Call) Over(t *interconnect.Topology, links []interconnect.LinkUse) Call {
	p := *c.Plan
	p.Transfer = p.Transfer.Over(t, c.Base, links)
	return Call{&p, 0}
}

// MemoryBytes returns how many bytes each rank's device memory reads and writes
// for one call, from how NCCL's kernels move the data. On a ring each byte that
// arrives is written into the connection's buffer by its sender and read from it,
// and either meets a byte of the rank's own input on its way on or is written
// into its output: three times the traffic on the bus, half of it reads. Trees
// come to the same. NVLink SHARP copies the input into the switches' buffers (a
// read and a write), where it is read once and the result written once, and
// copies the result out of them: six times the vector in an all-reduce, three
// times in a half. A message is read where it comes from, and written, read and
// written where it goes.
func (p *Plan) MemoryBytes() float64 {
	bus := float64(p.Message) * p.BusFactor
	switch {
	case p.Op == AllToAll || p.Op == SendRecv:
		return 4 * bus
	case p.Algorithm.sharp() && p.Op == AllReduce:
		return 6 * float64(p.Message)
	case p.Algorithm.sharp():
		return 3 * float64(p.Message)
	}
	return 3 * bus
}

// MemoryRate returns the bytes a second that a call reads and writes in each
// rank's device memory when it is alone on its links; 0 for what takes no time.
func (p *Plan) MemoryRate() float64 {
	took := p.Uncontended().Seconds()
	if took <= 0 {
		return 0
	}
	return p.MemoryBytes() / took
}
