package step

import (
	"context"

	"trainsim/sim"
	"trainsim/sim/trace"
)

// phase is a stretch of a run that all ranks begin together: a training step,
// or the evaluation after one.
type phase struct {
	step       int // of the memory account
	evaluation bool
	// warmUp: the step counts for nothing. The first of several allocates what
	// the others find in the allocator's cache.
	warmUp bool
}

func (p *phase) counts() bool { return !p.evaluation && !p.warmUp }

// outcome is what a phase did.
type outcome struct {
	phase
	Window
	stages []StageTime
}

// run simulates the phases one after the other.
func (m *machine) run(ctx context.Context) error {
	for i := range m.phases {
		m.begin(i)
		if err := m.engine.Run(ctx); err != nil {
			return err
		}
		var err error
		if m.done < len(m.ranks) {
			m.end = m.engine.Now()
			err = m.unfinished()
		}
		m.close()
		if err != nil {
			return err
		}
	}
	return nil
}

// begin puts all ranks at the start of a phase.
func (m *machine) begin(i int) {
	j, now := m.job, m.engine.Now()
	m.phase, m.done, m.end, m.began = &m.phases[i], 0, now, now
	m.microbatches = int32(j.Program.PipeMicrobatches())
	m.blocking = j.Config.Schedule.BlockingP2P && j.Config.Parallel.PP > 1
	if m.phase.evaluation {
		m.microbatches = int32(j.Config.Evaluation.Batches)
		m.blocking = m.blocking && j.Program.Chunks == 1 // else sends in a ring would wait for each other
	}
	clear(m.messages)
	for g := range m.streams {
		m.streams[g] = stream{queue: m.streams[g].queue[:0]}
	}
	m.driver = m.driverWork(i)
	m.record.begin(i, m.phase.counts())
	for r := range m.ranks {
		s := &j.Stages[m.stageOf(int32(r))]
		rs := &m.ranks[r]
		*rs = rankState{
			script: s.Script, clock: now, host: now, phaseBegan: now, receiving: -1, sending: -1,
			recorded: rs.recorded,
		}
		if m.phase.evaluation {
			rs.script = s.Evaluation
		}
		for k := range rs.script {
			for _, p := range rs.script[k].List() {
				if p.Kind == trace.Forward {
					rs.forwardsLeft++
				}
			}
		}
	}
	if m.phase.counts() {
		m.countLinks(-1)
	}
	m.start()
}

// start lets every rank begin at the present instant.
func (m *machine) start() {
	for r := range m.ranks {
		m.engine.At(m.engine.Now(), m.id, rankResumes, uint32(r))
	}
}

// close books what a phase took.
func (m *machine) close() {
	j := m.job
	o := outcome{phase: *m.phase, Window: Window{m.began, m.end, m.end - m.began}}
	pipelines := m.folding.pipelines
	for s := range j.Stages {
		m.bookEnd(&m.ranks[s*pipelines])
	}
	if !m.phase.evaluation && (j.Program.Async || j.Config.Schedule.NoBarrier) {
		o.Time = m.steady()
	}
	for s := range j.Stages {
		rs := &m.ranks[s*pipelines]
		t := stageTime(&rs.times)
		t.First, t.Last, t.Busy = rs.first-m.began, rs.last-m.began, rs.busy
		o.stages = append(o.stages, t)
	}
	if m.phase.counts() {
		m.countLinks(1)
		m.record.exposeSends(m)
	}
	m.outcomes = append(m.outcomes, o)
}

// bookEnd books what is left of the step as idle.
func (m *machine) bookEnd(rs *rankState) {
	rs.forwardsLeft = 0
	m.bookIdle(rs, m.end)
}

func stageTime(b *causeTimes) StageTime {
	return StageTime{
		Compute: b[causeCompute], Recompute: b[causeRecompute], Host: b[causeHost],
		Comm: [trace.NumDimensions]sim.Time(b[causeComm:causeOptimizer]), Optimizer: b[causeOptimizer],
		Warmup: b[causeWarmup], Cooldown: b[causeCooldown], Imbalance: b[causeImbalance],
	}
}

// countLinks adds (sign 1) or takes away (-1) what links have carried so far:
// both around a phase leave what it put on them.
func (m *machine) countLinks(sign float64) {
	if m.carried == nil {
		m.carried = make([]float64, m.job.Topology.Links())
	}
	for _, u := range m.network.Utilisation() {
		m.carried[u.Link] += sign * u.Bytes
	}
}

// exposeSends adds what recorded ranks waited for hand-offs in a phase.
func (rc *recorder) exposeSends(m *machine) {
	for i := range rc.recorded {
		rd := &rc.recorded[i]
		rd.p2p.exposed += m.ranks[rd.rank].times[causePP]
	}
}
