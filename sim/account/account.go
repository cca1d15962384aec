package account

import (
	"context"

	"trainsim/memory"
	"trainsim/sim/job"
)

// RankMemory is the memory account of one rank (the first) of a pipeline rank.
type RankMemory struct {
	Stage, Rank int
	// PeakAllocated and PeakReserved are PyTorch's two figures; Outside is what
	// the CUDA context and NCCL take from the driver beside them.
	PeakAllocated, PeakReserved, Outside int64
	Capacity                             int64
	// Allowed is what memory_fraction lets PyTorch reserve, 0 where that is not
	// what limits it.
	Allowed int64
	// AtPeak splits PeakAllocated by kind; context and communication buffers
	// outside PyTorch are added to their kinds.
	AtPeak [memory.NumKinds]int64
	// PeakInEvaluation says that the peak is in the evaluation after a step.
	PeakInEvaluation bool
	// OOM is the allocation that did not fit, nil if all did. The other
	// figures are then those of a device with room enough.
	OOM *OOM

	// AtStart is what was allocated by kind, and reserved, before the first step
	// of Timelines, of which there is one a phase of the simulation.
	AtStart   [memory.NumKinds + 1]int64
	Timelines []Timeline
}

// Replay replays the allocations of one rank of every pipeline rank, with the
// timeline if points is set. It gives up with the error of the context when that is
// done.
func Replay(ctx context.Context, j *job.Job, points bool) ([]RankMemory, error) {
	out := make([]RankMemory, len(j.Stages))
	for s := range j.Stages {
		m, err := replayStage(ctx, j, s, points)
		if err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[s] = m
	}
	return out, nil
}

// replayStage runs with the device's memory and, where that does not do, once
// more with memory enough, to know what would be needed.
func replayStage(ctx context.Context, j *job.Job, stage int, points bool) (RankMemory, error) {
	a, err := newReplay(j, stage, int64(j.Config.GPU.Memory))
	if err != nil {
		return RankMemory{}, err
	}
	a.keepPoints = points
	oom := a.run(ctx)
	if oom != nil {
		if a, err = newReplay(j, stage, enough); err != nil {
			return RankMemory{}, err
		}
		a.keepPoints = points
		a.run(ctx)
	}
	m := a.result()
	m.OOM = oom
	limit(j, &m)
	if oom != nil {
		oom.markFragmentation(&m)
	}
	return m, nil
}

// Stage accounts for the memory of one pipeline rank. Where it runs out of
// memory the figures are those up to then.
func Stage(ctx context.Context, j *job.Job, stage int) (RankMemory, error) {
	a, err := newReplay(j, stage, int64(j.Config.GPU.Memory))
	if err != nil {
		return RankMemory{}, err
	}
	oom := a.run(ctx)
	if err := ctx.Err(); err != nil {
		return RankMemory{}, err
	}
	m := a.result()
	m.OOM = oom
	limit(j, &m)
	return m, nil
}

// enough is a device on which everything fits: as much as the allocator's
// virtual address ranges take.
const enough = 1 << 45

// limit says what a rank may use: the device, or less of it by memory_fraction,
// which counts what PyTorch reserves and not what lies outside.
func limit(j *job.Job, m *RankMemory) {
	m.Capacity = int64(j.Config.GPU.Memory)
	if f := j.Config.Memory.Fraction; f > 0 && f < 1 {
		if allowed := int64(f * float64(m.Capacity)); allowed < m.Capacity-m.Outside {
			m.Allowed = allowed
		}
	}
}

// Peaks is what "auto-memory" goes by, the account of every pipeline rank.
func Peaks(ctx context.Context, j *job.Job) ([]int64, error) {
	accounts, err := Replay(ctx, j, false)
	if err != nil {
		return nil, err
	}
	out := make([]int64, len(accounts))
	for i := range accounts {
		out[i] = accounts[i].PeakAllocated
	}
	return out, nil
}

// Fullest returns the stage whose account has the largest share of its device.
func Fullest(accounts []RankMemory) int {
	most := 0
	for i := range accounts {
		if accounts[i].NvidiaSMI() > accounts[most].NvidiaSMI() {
			most = i
		}
	}
	return most
}

// NvidiaSMI returns what nvidia-smi would show at the peak, in bytes.
func (m *RankMemory) NvidiaSMI() int64 { return m.PeakReserved + m.Outside }

// Fits reports whether no allocation failed.
func (m *RankMemory) Fits() bool { return m.OOM == nil }

// Parts is a peak by what it is for, in bytes.
type Parts struct {
	Weights, Gradients, Optimizer, Activations, Temporaries, CommBuffers, Context int64
}

// Parts returns AtPeak by name.
func (m *RankMemory) Parts() Parts {
	p := &m.AtPeak
	return Parts{
		Weights: p[memory.Weights], Gradients: p[memory.Gradients], Optimizer: p[memory.Optimizer],
		Activations: p[memory.Activations], Temporaries: p[memory.Temporaries],
		CommBuffers: p[memory.CommBuffers], Context: p[memory.Context],
	}
}

func (a *replay) result() RankMemory {
	m := RankMemory{
		Stage: a.stage, Rank: a.stage * a.job.Config.Parallel.RanksPerStage(),
		PeakAllocated: a.alloc.PeakAllocated(), PeakReserved: a.alloc.PeakReserved(),
		AtPeak: a.alloc.PeakByKind(), PeakInEvaluation: a.peakInEvaluation,
		AtStart: a.atStart, Timelines: a.timelines,
	}
	for k, n := range a.outside {
		m.AtPeak[k] += n
		m.Outside += n
	}
	return m
}
