package step

import (
	"trainsim/interconnect/nccl"
	"trainsim/sim"
	"trainsim/sim/code"
	"trainsim/sim/model"
)

// Events that a machine sends to itself.
const (
	rankResumes  uint16 = iota // arg: rank
	streamFinish               // arg: group
	messageDone                // arg: message
)

// rankState is one rank as an actor.
type rankState struct {
	script []code.Action
	code   *code.Block // of the present action
	action int32
	pc     int32
	// phaseBegan is when the present phase did, clock up to where it is booked.
	phaseBegan, clock sim.Time
	host              sim.Time // when the host has launched everything so far
	began             sim.Time // when the present action did its first work
	launched          bool     // the host cost of the present instruction is counted
	working           bool     // the present action has begun
	wait              waiting
	// What it waits for: a collective of a stream, or up to two messages.
	waitGroup     int32
	waitIndex     uint32
	receiving     int32
	sending       int32    // a sent message that must leave before the rank goes on
	heldSMs       int32    // multiprocessors that overlapped collectives hold
	memoryTraffic int64    // bytes a second that those in flight move in device memory
	trafficEnds   sim.Time // when they are over if nothing delays them
	entered       [model.NumGroups]uint32
	slotNumber    [code.Slots]uint32
	slotGroup     [code.Slots]int32
	// Phases of the pipeline, for the causes of bubbles.
	forwardsLeft   int32 // still to come
	backwardsBegun int32 // begun
	times          causeTimes
	window         window // of an asynchronous schedule's steady state
	// When micro-batches began and ended, and how long its actions took.
	first, last, busy sim.Time
	stalled           sim.Time // waiting for hand-offs within the present action
	recorded          int32    // index in the recorder, -1: not recorded
	driverDone        int32    // of the driver's work, how much is done
}

// waiting says what a rank waits for.
type waiting uint8

const (
	running waiting = iota
	onMessages
	onStream
	finished
)

// message is one hand-off between stages.
type message struct {
	started    sim.Time
	call       nccl.Call // once it is under way
	sent, done bool
	posted     bool // the receiver waits for it (blocking point-to-point only)
}

// replica returns the replica that a rank is part of.
func (m *machine) replica(rank int32) int {
	return m.job.Config.Parallel.Coord(int(m.folding.rank(rank))).DP
}

func (m *machine) stageOf(rank int32) int { return int(rank) / m.folding.pipelines }

func (m *machine) pipelineOf(rank int32) int32 { return rank % int32(m.folding.pipelines) }

// rankAt returns the rank of a pipeline rank in r's pipeline.
func (m *machine) rankAt(r, pipelineRank int32) int32 {
	return pipelineRank*int32(m.folding.pipelines) + m.pipelineOf(r)
}

// messageID returns the machine's number of an action's message.
func (m *machine) messageID(r, local int32) int32 {
	return m.pipelineOf(r)*m.job.Messages + local
}

// endpoints returns the sending and the receiving actor of a message.
func (m *machine) endpoints(id int32) (from, to int32) {
	j := m.job
	p := j.Program
	local := id % j.Messages
	backward := local%2 == 1
	cell := int(local / 2 / m.microbatches)
	pipe, stage := cell/p.Stages(), cell%p.Stages()
	other := stage - 1
	if backward {
		other = stage + 1
	}
	toStage, _ := p.Owner(pipe, stage)
	fromStage, _ := p.Owner(pipe, other)
	pipeline, pipelines := id/j.Messages, int32(m.folding.pipelines)
	return int32(fromStage)*pipelines + pipeline, int32(toStage)*pipelines + pipeline
}
