package schedule

import "fmt"

// Placement says which global stage of the model a chunk on a rank is.
type Placement uint8

// The placements. S is the number of global stages.
const (
	// Loop places chunk c of rank r at stage c*p + r, S = p*v.
	Loop Placement = iota
	// Wave goes back and forth: even chunks as Loop, odd chunks c at stage
	// c*p + p-1-r, S = p*v. With v = 2 it is the V of ZB-V and DualPipeV.
	Wave
	// Bidirectional holds two copies of the model: chunk 0 of rank r is stage
	// r of the pipe that runs downwards, chunk 1 is stage p-1-r of the pipe
	// that runs upwards, S = p.
	Bidirectional
	// Custom is any other placement, as read from a file.
	Custom
)

var placementNames = [...]string{"loop", "wave", "bidirectional", "custom"}

// String returns the placement's name.
func (p Placement) String() string {
	if int(p) < len(placementNames) {
		return placementNames[p]
	}
	return fmt.Sprintf("Placement(%d)", uint8(p))
}

// Program is one training step of a pipeline as every rank executes it.
type Program struct {
	Kind         string    // canonical name of the schedule, or "csv"
	Ranks        int       // p, pipeline ranks
	Microbatches int       // m, micro-batches a batch; both directions together with Bidirectional
	Chunks       int       // v, model chunks a rank; 2 with Bidirectional
	Placement    Placement // which stage each chunk is
	Lists        [][]Action

	// Batches is how many batches the lists run through: 1 for a synchronous
	// schedule, more for an asynchronous one (PipeDream: m mini-batches in one
	// run; 2BW: Batches batches of m micro-batches each).
	Batches int
	// Async is set when the weights change inside the lists, without a flush
	// of the pipeline.
	Async bool
	// GroupSize is the number of micro-batches that an interleaved schedule
	// runs through one chunk before the next; 0 elsewhere.
	GroupSize int
	// WeightVersions is, for an asynchronous schedule, how many weight
	// versions each rank keeps at once. Nil otherwise: one.
	WeightVersions []int

	stages []int32  // Custom: stage of rank*Chunks+chunk
	steps  [][]Step // lists with communication, as they came with a file
}

// Stages returns the number of global stages: p*v, or p with Bidirectional.
func (p *Program) Stages() int {
	if p.Placement == Bidirectional {
		return p.Ranks
	}
	return p.Ranks * p.Chunks
}

// Pipes returns how many copies of the model the program runs: 2 with
// Bidirectional, else 1.
func (p *Program) Pipes() int {
	if p.Placement == Bidirectional {
		return 2
	}
	return 1
}

// totalMicrobatches returns the micro-batches in the lists: Microbatches times
// Batches.
func (p *Program) totalMicrobatches() int {
	return p.Microbatches * max(1, p.Batches)
}

// PipeMicrobatches returns the micro-batches that go through one pipe; their
// indices are 0 to one less than it.
func (p *Program) PipeMicrobatches() int { return p.totalMicrobatches() / p.Pipes() }

// Stage returns the global stage of a chunk on a rank.
func (p *Program) Stage(rank, chunk int) int {
	switch {
	case p.Placement == Custom:
		return int(p.stages[rank*p.Chunks+chunk])
	case p.Placement == Bidirectional && chunk == 0:
		return rank
	case p.Placement == Bidirectional:
		return p.Ranks - 1 - rank
	case p.Placement == Wave && chunk%2 == 1:
		return chunk*p.Ranks + p.Ranks - 1 - rank
	}
	return chunk*p.Ranks + rank
}

// Pipe returns the copy of the model that a chunk belongs to: its direction
// with Bidirectional, else 0.
func (p *Program) Pipe(chunk int) int {
	if p.Placement == Bidirectional {
		return chunk
	}
	return 0
}

// Owner returns the rank and the chunk on it that hold a global stage of a
// pipe; pipe is 0 unless the placement is Bidirectional.
func (p *Program) Owner(pipe, stage int) (rank, chunk int) {
	switch {
	case p.Placement == Custom:
		return p.findStage(stage)
	case p.Placement == Bidirectional && pipe == 0:
		return stage, 0
	case p.Placement == Bidirectional:
		return p.Ranks - 1 - stage, 1
	}
	chunk, rank = stage/p.Ranks, stage%p.Ranks
	if p.Placement == Wave && chunk%2 == 1 {
		rank = p.Ranks - 1 - rank
	}
	return rank, chunk
}

func (p *Program) findStage(stage int) (rank, chunk int) {
	for i, s := range p.stages {
		if int(s) == stage {
			return i / p.Chunks, i % p.Chunks
		}
	}
	return -1, -1
}

// Prev returns the rank and chunk that a chunk's forward input comes from (and
// that its input gradient goes to); ok is false for the first stage.
func (p *Program) Prev(rank, chunk int) (prevRank, prevChunk int, ok bool) {
	stage := p.Stage(rank, chunk)
	if stage == 0 {
		return 0, 0, false
	}
	prevRank, prevChunk = p.Owner(p.Pipe(chunk), stage-1)
	return prevRank, prevChunk, true
}

// Next returns the rank and chunk that a chunk's forward output goes to (and
// that its output gradient comes from); ok is false for the last stage.
func (p *Program) Next(rank, chunk int) (nextRank, nextChunk int, ok bool) {
	stage := p.Stage(rank, chunk)
	if stage == p.Stages()-1 {
		return 0, 0, false
	}
	nextRank, nextChunk = p.Owner(p.Pipe(chunk), stage+1)
	return nextRank, nextChunk, true
}
