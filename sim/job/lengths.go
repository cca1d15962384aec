package job

import (
	"fmt"

	"trainsim/sim"
	"trainsim/sim/code"
	"trainsim/sim/trace"
)

// drawn is how long the sequences of a run are.
type drawn struct {
	// padded is the length of every micro-batch by replica and step: its longest
	// sequence, to which the others are padded, rounded up to what the parallel
	// layout and the kernels divide.
	padded [][][]int64
	tokens int64 // of all sequences themselves
	count  int64 // sequences
}

// drawLengths draws the sequences' lengths and compiles what runs on them.
func (j *Job) drawLengths() error {
	c := j.Config
	if !c.Data.varies() {
		return nil
	}
	n := float64(c.Parallel.DP) * float64(c.AccountSteps()) * float64(j.Program.PipeMicrobatches()) * float64(
		max(1, c.Schedule.MicrobatchSize),
	)
	if n > maxDraws {
		return fmt.Errorf(
			"data.steps: %d steps have %.0f sequences of different lengths, more than are drawn (%d); write "+
				"fewer steps", c.AccountSteps(), n, maxDraws,
		)
	}
	j.draws = c.draw(j.Program.PipeMicrobatches())
	if c.Data.Dynamic() {
		j.lengths = j.draws.padded
		j.compileLengths()
	}
	return nil
}

// maxDraws is how many sequences a run of different lengths may have.
const maxDraws = 1 << 24

// draw draws the lengths of every replica's sequences, nil where all are the
// same.
func (c *Config) draw(microbatches int) *drawn {
	d := &c.Data
	if !d.varies() {
		return nil
	}
	multiple := int64(8 * c.Parallel.TP * c.Parallel.CP)
	out := &drawn{padded: make([][][]int64, c.Parallel.DP)}
	for r := range out.padded {
		rnd := sim.NewRand(c.Seed, drawName(r))
		out.padded[r] = make([][]int64, c.AccountSteps())
		for s := range out.padded[r] {
			out.padded[r][s] = make([]int64, microbatches)
			for m := range out.padded[r][s] {
				var longest int64
				for range max(1, c.Schedule.MicrobatchSize) {
					n := d.length(rnd.Int64N, c.Model.Tokens())
					longest = max(longest, n)
					out.tokens += n
					out.count++
				}
				out.padded[r][s][m] = min(c.Model.Tokens(), (longest+multiple-1)/multiple*multiple)
			}
		}
	}
	return out
}

// drawName names the stream of random numbers of a replica.
func drawName(replica int) string {
	if replica == 0 {
		return "sequence lengths"
	}
	return fmt.Sprintf("sequence lengths of replica %d", replica)
}

// length draws one sequence's length.
func (d *Data) length(below func(int64) int64, longest int64) int64 {
	if d.Lengths == "list" {
		return int64(d.LengthList[below(int64(len(d.LengthList)))])
	}
	return int64(d.MinLength) + below(longest-int64(d.MinLength)+1)
}

// compileLengths compiles the actions for all lengths that are drawn, so that a
// run finds them, and drops the operators that are not needed any more.
func (j *Job) compileLengths() {
	if j.lengths == nil {
		return
	}
	for s := range j.Stages {
		script := j.Stages[s].Script
		for i := range script {
			for replica := range j.lengths {
				for step := range j.lengths[replica] {
					j.BlockOf(&script[i], replica, step)
				}
			}
		}
	}
	for _, chunk := range j.byLength {
		chunk.Drop()
	}
}

// BlockOf returns an action's block for a replica's step.
func (j *Job) BlockOf(a *code.Action, replica, step int) *code.Block {
	if j.lengths == nil || a.Parts[0].Microbatch < 0 || a.Parts[0].Kind == trace.Evaluation {
		return a.Block
	}
	one := j.partCode(a, 0, replica, step)
	if !a.Pair {
		return one
	}
	return j.merged(one, j.partCode(a, 1, replica, step))
}

func (j *Job) partCode(a *code.Action, i, replica, step int) *code.Block {
	chunk := j.ChunkOfLength(a.Chunks[i], j.MicrobatchLength(replica, step, a.Parts[i].Microbatch))
	return j.blockFor(chunk, a.Keys[i])
}

// merged returns the block of two actions that overlap.
func (j *Job) merged(a, b *code.Block) *code.Block {
	key := [2]*code.Block{a, b}
	m, ok := j.pairs[key]
	if !ok {
		m = code.Merge(a, b)
		j.pairs[key] = m
	}
	return m
}

// sizeKey names a chunk's code at a sequence length.
type sizeKey struct {
	code   *code.Chunk
	length int64
}

// ChunkOfLength returns a chunk's code for sequences of a length: the same operators
// and tensors with other sizes.
func (j *Job) ChunkOfLength(chunk *code.Chunk, length int64) *code.Chunk {
	if length == j.Config.Model.Tokens() {
		return chunk
	}
	key := sizeKey{chunk, length}
	out, ok := j.byLength[key]
	if !ok {
		out = code.NewChunk(j.Spec.OfLength(length).Build(chunk.Model.Run), chunk.Split)
		j.byLength[key] = out
	}
	return out
}

// MicrobatchLength returns the length of a micro-batch of a replica.
func (j *Job) MicrobatchLength(replica, step int, microbatch int32) int64 {
	list := j.lengths[replica][step]
	return list[int(microbatch)%len(list)]
}

// Dynamic reports whether micro-batches differ in length, so that a run has
// several steps.
func (j *Job) Dynamic() bool { return j.lengths != nil }

// Steps returns how many training steps a run of the job simulates.
func (j *Job) Steps() int {
	if j.lengths == nil {
		return 1
	}
	return j.Config.AccountSteps()
}
