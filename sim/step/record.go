package step

import (
	"trainsim/interconnect/nccl"
	"trainsim/memory"
	"trainsim/sim"
	"trainsim/sim/account"
	"trainsim/sim/code"
	"trainsim/sim/job"
	"trainsim/sim/trace"
)

// recorder writes what the recorded ranks do: one rank of every pipeline rank,
// or all of them.
type recorder struct {
	rec      *trace.Recording
	recorded []recorded
	links    *linkMeter
	accounts []account.RankMemory
	counts   bool // the present phase is one whose collectives count
	async    bool // the schedule's step is a window of each rank
}

// recorded is one rank's lanes, communication totals and memory cursor.
type recorded struct {
	rank, stage int32
	lanes       [trace.NumStreams]int32
	comms       []commStat // by comm index
	p2p         commStat
	sent        nccl.Call // the last hand-off
	points      []account.Point
	cursor      int
	counted     bool                       // has counters of memory
	counters    [memory.NumKinds + 1]int32 // the last is reserved
}

// commStat sums one collective over a rank's step.
type commStat struct {
	count            int64
	bytes            int64
	seconds, exposed sim.Time
}

func newRecorder(m *machine, o Options, accounts []account.RankMemory) *recorder {
	rc := &recorder{rec: &trace.Recording{}, accounts: accounts, async: m.job.Program.Async}
	if o.NoRecording {
		return rc
	}
	for _, n := range m.job.Compiler.Names {
		rc.rec.Name(n)
	}
	pipelines := m.folding.pipelines
	for r := range m.ranks {
		if r%pipelines != 0 && !o.recordAll {
			continue
		}
		stage := r / pipelines
		rd := recorded{rank: int32(r), stage: int32(stage), comms: make([]commStat, len(m.job.Compiler.Comms))}
		for s := range rd.lanes {
			rd.lanes[s] = rc.rec.AddLane(
				trace.Lane{Rank: int(m.folding.rank(int32(r))), Stage: stage, Stream: trace.Stream(s)},
			)
		}
		if r%pipelines == 0 {
			rc.addCounters(&rd, &accounts[stage], m.job.Config)
		}
		m.ranks[r].recorded = int32(len(rc.recorded))
		rc.recorded = append(rc.recorded, rd)
	}
	return rc
}

func (rc *recorder) addCounters(rd *recorded, of *account.RankMemory, c *job.Config) {
	rd.counted = true
	for k := range memory.NumKinds {
		rd.counters[k] = rc.rec.AddCounter(trace.Counter{Kind: trace.MemoryByKind, Name: memory.Kind(k).String(),
			Rank: of.Rank, Stage: int(rd.stage), Limit: float64(c.GPU.Memory)})
	}
	rd.counters[memory.NumKinds] = rc.rec.AddCounter(trace.Counter{Kind: trace.MemoryReserved, Name: "reserved",
		Rank: of.Rank, Stage: int(rd.stage), Limit: float64(c.GPU.Memory)})
	for k, v := range of.AtStart {
		rc.rec.Set(0, rd.counters[k], v)
	}
}

// begin takes the memory of a phase up.
func (rc *recorder) begin(phase int, counts bool) {
	rc.counts = counts
	for i := range rc.recorded {
		rd := &rc.recorded[i]
		rd.points, rd.cursor = nil, 0
		if list := rc.accounts[rd.stage].Timelines; rd.counted && phase < len(list) {
			rd.points = list[phase].Points
		}
	}
}

func (rc *recorder) of(rs *rankState) *recorded { return &rc.recorded[rs.recorded] }

func (rc *recorder) action(rs *rankState, a *code.Action, from, to sim.Time) {
	p := &a.Parts[len(a.List())-1]
	if p.Microbatch < 0 && from == to {
		return
	}
	rc.rec.Add(trace.Span{Start: from, End: to, Lane: rc.of(rs).lanes[trace.Actions], Kind: p.Kind,
		Chunk: uint16(p.Chunk), Name: a.Name, Microbatch: p.Microbatch})
}

// detailSpans is how many spans a recording has before it keeps nothing but the
// actions of the schedule: the rest is room for them in a saved run.
const detailSpans = trace.MaxSpans * 7 / 8

// detailed reports whether kernels and collectives are still recorded.
func (rc *recorder) detailed() bool { return rc.rec.Len() < detailSpans }

func (rc *recorder) kernel(rs *rankState, a *code.Action, in *code.Instr, from, to sim.Time) {
	if !rc.detailed() {
		return
	}
	rc.rec.Add(trace.Span{Start: from, End: to, Lane: rc.of(rs).lanes[trace.Compute], Kind: in.Cause,
		Chunk: uint16(a.Parts[in.Part].Chunk), Name: in.Name, Microbatch: a.Parts[in.Part].Microbatch})
}

// idle records waiting for another stage on the actions' lane.
func (rc *recorder) idle(rs *rankState, from, to sim.Time) {
	if !rc.detailed() {
		return
	}
	rc.rec.Add(trace.Span{Start: from, End: to, Lane: rc.of(rs).lanes[trace.Compute], Kind: trace.Bubble,
		Name: rc.rec.Name("bubble"), Microbatch: -1})
}

func (rc *recorder) collective(rs *rankState, g *job.Group, comm int32, from, to, exposed sim.Time) {
	rd := rc.of(rs)
	if rc.detailed() {
		d := code.Dimensions[g.Kind]
		rc.rec.Add(trace.Span{Start: from, End: to, Lane: rd.lanes[d.Stream()], Kind: d.Kind(),
			Name: rc.rec.Name(g.Kind.String()), Microbatch: -1})
	}
	if !rc.counting(rs) {
		return
	}
	s := &rd.comms[comm]
	s.count++
	s.seconds += to - from
	s.exposed += exposed
}

// expose adds what a collective costs its rank beside its own time.
func (rc *recorder) expose(rs *rankState, comm int32, exposed sim.Time) {
	if rc.counting(rs) {
		rc.of(rs).comms[comm].exposed += exposed
	}
}

// counting reports whether what a rank does now belongs to a step that counts: of
// an asynchronous schedule, to the window that stands for its step.
func (rc *recorder) counting(rs *rankState) bool {
	return rc.counts && (!rc.async || rs.window.open)
}

// message records a hand-off on both ends' lanes.
func (rc *recorder) message(m *machine, from, to, id int32) {
	for i, r := range [2]int32{from, to} {
		rs := &m.ranks[r]
		if rs.recorded < 0 {
			continue
		}
		rd := rc.of(rs)
		if rc.detailed() {
			rc.rec.Add(trace.Span{
				Start: m.messages[id].started, End: m.engine.Now(), Lane: rd.lanes[trace.PP.Stream()],
				Kind: trace.PP.Kind(), Name: rc.rec.Name([2]string{"send", "receive"}[i]), Microbatch: -1,
			})
		}
		if i == 0 && rc.counting(rs) {
			rd.sent = m.messages[id].call
			rd.p2p.count++
			rd.p2p.bytes += rd.sent.Message
			rd.p2p.seconds += m.engine.Now() - m.messages[id].started
		}
	}
}

// memory emits the account's changes up to the instruction that the rank has
// just finished.
func (rc *recorder) memory(rs *rankState, at sim.Time) {
	rd := rc.of(rs)
	for rd.cursor < len(rd.points) {
		p := &rd.points[rd.cursor]
		if p.Action > rs.action || (p.Action == rs.action && p.PC > rs.pc) {
			return
		}
		when := rs.clock
		if p.Early {
			when = at
		}
		rc.rec.Set(max(at, when), rd.counters[p.Counter], p.Value)
		rd.cursor++
	}
}
