package step

import (
	"context"
	"errors"

	"trainsim/interconnect"
	"trainsim/interconnect/nccl"
	"trainsim/schedule"
	"trainsim/sim"
	"trainsim/sim/account"
	"trainsim/sim/code"
	"trainsim/sim/job"
)

// Options say how a job is run.
type Options struct {
	// NoRecording keeps only times and memory: the Recording is empty and there
	// are no totals of collectives.
	NoRecording bool
	// Fold simulates one of the pipelines that cannot differ and lets it stand
	// for all of them. It changes no result.
	Fold bool
	// MaxEvents caps the engine's events; 0 means no cap.
	MaxEvents uint64

	recordAll bool // every rank, not one of every pipeline rank
}

// Run builds a Config's job and simulates a step.
func Run(ctx context.Context, c *job.Config, o Options) (*Result, error) {
	j, err := job.Build(ctx, c, account.Peaks)
	if err != nil {
		return nil, err
	}
	return Simulate(ctx, j, o)
}

// Simulate simulates one steady step of the job. With faults it simulates the
// healthy cluster as well, to know what they cost. With a schedule.ErrDeadlock it
// returns what was done until then.
func Simulate(ctx context.Context, j *job.Job, o Options) (*Result, error) {
	accounts, err := account.Replay(ctx, j, !o.NoRecording)
	if err != nil {
		return nil, err
	}
	if !j.Config.Faults.Any() {
		return simulate(ctx, j, o, accounts, false)
	}
	healthy, err := simulate(ctx, j, Options{NoRecording: true, Fold: o.Fold, MaxEvents: o.MaxEvents}, accounts, false)
	if err != nil {
		return nil, err
	}
	o.Fold = o.Fold && j.Config.Faults.Jitter == 0 // which tells all ranks apart
	res, err := simulate(ctx, j, o, accounts, true)
	if err != nil {
		return res, err
	}
	res.Healthy, res.HealthyStep = healthy.Stages, healthy.StepTime
	return res, nil
}

// Timed simulates a step without the memory account: Memory and OOM of its
// result are empty.
func Timed(ctx context.Context, j *job.Job, o Options) (*Result, error) {
	res, err := simulate(ctx, j, o, make([]account.RankMemory, len(j.Stages)), j.Config.Faults.Any())
	if res != nil {
		res.Memory = nil
	}
	return res, err
}

// simulate runs a job once, on a cluster with its faults or without them.
func simulate(
	ctx context.Context, j *job.Job, o Options, accounts []account.RankMemory, faults bool,
) (*Result, error) {
	m, err := prepare(j, o, accounts, faults)
	if err != nil {
		return nil, err
	}
	if err := m.run(ctx); err != nil && !errors.Is(err, schedule.ErrDeadlock) {
		return nil, err
	} else {
		return m.result(), err
	}
}

// prepare puts a job on an engine of its own.
func prepare(j *job.Job, o Options, accounts []account.RankMemory, faults bool) (*machine, error) {
	var e sim.Engine
	e.SetMaxEvents(o.MaxEvents)
	e.Reserve(2*j.Ranks() + 64)
	m := newMachine(j, &e, accounts, o.Fold && !o.recordAll)
	m.record = newRecorder(m, o, accounts)
	m.record.links = newLinkMeter(j.Topology.Links())
	if !o.NoRecording {
		var err error
		if m.record.rec.Blocks, err = account.Blocks(j, accounts); err != nil {
			return nil, err
		}
		m.network.Record(m.record.links.change)
	}
	if faults {
		return m, m.injectFaults()
	}
	return m, nil
}

func newMachine(j *job.Job, e *sim.Engine, accounts []account.RankMemory, fold bool) *machine {
	c := newFolding(j, fold)
	m := &machine{
		job: j, folding: c, engine: e, network: interconnect.NewNetwork(e, j.Topology),
		ranks: make([]rankState, c.actors()), streams: make([]stream, len(j.Groups)),
		loads:       make([][]load, len(j.Groups)),
		messages:    make([]message, int(j.Messages)*c.pipelines),
		sends:       make(map[sendKey]nccl.Call),
		besideTimes: make(map[code.KernelBeside]sim.Time),
		phases:      phases(j), accounts: accounts,
	}
	m.id = e.Register(m)
	for r := range m.ranks {
		m.ranks[r].recorded = -1
	}
	return m
}

// phases lists what a run simulates: one steady step, or as many as lengths are
// drawn for, each with its evaluation.
func phases(j *job.Job) []phase {
	steps := j.Steps()
	var out []phase
	for s := range steps {
		out = append(out, phase{step: s, warmUp: steps > 1 && s == 0})
		if j.Config.Evaluation.Batches > 0 {
			out = append(out, phase{step: s, evaluation: true})
		}
	}
	return out
}
