package step

import (
	"fmt"
	"maps"
	"slices"

	"trainsim/sim"
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
		out.padded[r] = make([][]int64, c.steps())
		for s := range out.padded[r] {
			out.padded[r][s] = make([]int64, microbatches)
			for m := range out.padded[r][s] {
				var longest int64
				for range max(1, c.Schedule.MicrobatchSize) {
					n := d.length(rnd.Int64N, c.Model.SeqLen)
					longest = max(longest, n)
					out.tokens += n
					out.count++
				}
				out.padded[r][s][m] = min(c.Model.SeqLen, (longest+multiple-1)/multiple*multiple)
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

// Dynamic reports whether micro-batches differ in length, so that a run has
// several steps.
func (j *Job) Dynamic() bool { return j.lengths != nil }

// Steps returns how many training steps a run of the job simulates.
func (j *Job) Steps() int {
	if j.lengths == nil {
		return 1
	}
	return j.Config.steps()
}

// length returns the length of a micro-batch of a replica.
func (j *Job) length(replica, step int, microbatch int32) int64 {
	list := j.lengths[replica][step]
	return list[int(microbatch)%len(list)]
}

// code returns an action's block for a replica's step.
func (j *Job) code(a *action, replica, step int) *block {
	if j.lengths == nil || a.parts[0].microbatch < 0 || a.parts[0].kind == trace.Evaluation {
		return a.block
	}
	one := j.partCode(a, 0, replica, step)
	if !a.pair {
		return one
	}
	return j.merged(one, j.partCode(a, 1, replica, step))
}

func (j *Job) partCode(a *action, i, replica, step int) *block {
	cc := j.sized(a.chunks[i], j.length(replica, step, a.parts[i].microbatch))
	return j.blockFor(cc, a.keys[i])
}

// merged returns the block of two actions that overlap.
func (j *Job) merged(a, b *block) *block {
	key := [2]*block{a, b}
	m, ok := j.pairs[key]
	if !ok {
		m = merge(a, b)
		j.pairs[key] = m
	}
	return m
}

// sizeKey names a chunk's code at a sequence length.
type sizeKey struct {
	code   *chunkCode
	length int64
}

// sized returns a chunk's code for sequences of a length: the same operators
// and tensors with other sizes.
func (j *Job) sized(cc *chunkCode, length int64) *chunkCode {
	if length == j.Config.Model.SeqLen {
		return cc
	}
	key := sizeKey{cc, length}
	out, ok := j.sizes[key]
	if !ok {
		spec := *j.spec
		spec.SeqLen = length
		out = newChunkCode(cc.shape, j.build(&spec, cc.shape), cc.split)
		j.sizes[key] = out
	}
	return out
}

// compileLengths compiles the actions for all lengths that are drawn, so that a
// run finds them, and drops the operators that are not needed any more.
func (j *Job) compileLengths() {
	if j.lengths == nil {
		return
	}
	for s := range j.stages {
		script := j.stages[s].script
		for i := range script {
			for replica := range j.lengths {
				for step := range j.lengths[replica] {
					j.code(&script[i], replica, step)
				}
			}
		}
	}
	for _, cc := range j.sizes {
		cc.drop()
	}
}

// drop forgets what compiled code does not need.
func (cc *chunkCode) drop() {
	small := *cc.chunk
	small.Forward, small.Backward = nil, nil
	cc.chunk, cc.input, cc.weight = &small, nil, nil
	cc.forwardTensors, cc.backwardTensors, cc.inputTensors, cc.weightTensors = nil, nil, nil, nil
}

// Work is what a step processes over all replicas, a mean over the steps where
// sequences differ in length.
type Work struct {
	// Tokens are those of the sequences themselves, Computed also those that
	// pad them.
	Tokens, Computed float64
	// ModelFLOPs are the operations of forward and backward on the computed
	// tokens, RecomputedFLOPs those of recomputation.
	ModelFLOPs, RecomputedFLOPs float64
}

// Work returns what a step of the job processes.
func (j *Job) Work() Work {
	tokens := float64(j.Config.Tokens())
	w := Work{Tokens: tokens, Computed: tokens, ModelFLOPs: j.spec.TrainingFLOPs() * tokens, RecomputedFLOPs: j.spec.RecomputedFLOPs() * tokens}
	if j.draws == nil {
		return w
	}
	samples := float64(j.Config.Samples())
	w.Tokens = samples * float64(j.draws.tokens) / float64(j.draws.count)
	if j.lengths == nil {
		return w
	}
	byLength := make(map[int64]int64)
	for _, steps := range j.lengths {
		for _, list := range steps {
			for _, n := range list {
				byLength[n]++
			}
		}
	}
	return j.workOf(byLength, w.Tokens, samples)
}

// workOf averages over the micro-batches of each length.
func (j *Job) workOf(byLength map[int64]int64, tokens, samples float64) Work {
	w := Work{Tokens: tokens}
	var count, sum int64
	var flops, again float64
	spec := *j.spec
	for _, n := range slices.Sorted(maps.Keys(byLength)) {
		spec.SeqLen = n
		many := float64(byLength[n]) * float64(n)
		flops += float64(many * spec.TrainingFLOPs())
		again += float64(many * spec.RecomputedFLOPs())
		count += byLength[n]
		sum += n * byLength[n]
	}
	share := samples / float64(count)
	w.Computed, w.ModelFLOPs, w.RecomputedFLOPs = float64(sum)*share, flops*share, again*share
	return w
}
