package account

import (
	"fmt"
	"strings"

	"trainsim/memory"
	"trainsim/sim/framework"
	"trainsim/sim/job"
	"trainsim/sim/model"
)

// Line is one part of a stage's memory with the formula that it follows from.
type Line struct {
	Kind          memory.Kind
	Part, Formula string
	Bytes         int64
	// Detail marks a tensor of one layer, which a later line counts again.
	Detail bool
	// Evaluation marks what is there in the evaluation, not in the step.
	Evaluation bool
}

// Explain takes a stage's memory apart, in the order of memory's kinds: what
// stays, what a layer keeps for the backward, what lies outside PyTorch. Blocks
// are not rounded here, and of temporaries there are only prefetched batches: the
// others are in the account alone.
func Explain(j *job.Job, stage int) []Line {
	e := &explainer{job: j, stage: &j.Stages[stage]}
	e.state()
	for i, f := range mostInFlight(e.stage) {
		e.activations(i, f)
	}
	e.explainEvaluation()
	e.prefetched()
	e.outside(stage)
	return e.lines
}

type explainer struct {
	job   *job.Job
	stage *job.Stage
	lines []Line
}

// state explains weights, gradients and the optimizer.
func (e *explainer) state() {
	s, n := &e.job.State, e.stage.TrainedParameters
	if s.Layout == job.ShardedStates {
		e.spread(memory.Weights, "weight shards", s.Weights.Bytes)
		e.spread(memory.Gradients, "gradient shards", s.Gradients.Bytes)
		e.unsharded(n)
	} else {
		e.each(memory.Weights, "weights", n, s.Weights.Bytes, "")
		copies, matrices := e.kept(true)
		e.add(
			memory.Weights, copies, "FP8 copies of weights",
			"1 B by rows and 1 B by columns for an element of %d matrices", matrices,
		)
		e.gradients(n)
		e.spread(memory.Optimizer, "fp32 master weights", s.Master.Bytes)
	}
	e.spread(memory.Optimizer, "optimizer states", s.Moments.Bytes)
	e.frozen()
}

// spread adds what ZeRO shares out, apart for experts that other ranks share.
func (e *explainer) spread(kind memory.Kind, name string, each int64) {
	for _, d := range e.job.GradientGroups() {
		var n int64
		for _, parameters := range e.stage.Parameters(d) {
			n += parameters
		}
		part, ranks := name, d.Ranks
		switch {
		case d.Sharding == model.ByExpert:
			part += " of experts"
		case d.Zero >= 2:
			ranks = e.job.Config.Shards()
		}
		if ranks > 1 && d.Zero > 0 {
			e.add(
				kind, int64(float64(each)/float64(ranks)*float64(n)), part, "%d parameters x %d B / %d ranks", n,
				each, ranks,
			)
		} else {
			e.add(kind, each*n, part, "%d parameters x %d B", n, each)
		}
	}
}

// gradients explains those that add up and their copies.
func (e *explainer) gradients(n int64) {
	s := &e.job.State
	e.each(memory.Gradients, "gradients", n, s.Gradients.Bytes, "")
	if s.Layout == framework.DeepSpeedStates {
		e.each(memory.Gradients, "16-bit gradients", n, s.GradientCopies.Bytes, " beside those that accumulate")
	} else {
		e.each(memory.Gradients, "gradient buckets", n, s.GradientCopies.Bytes, ", DistributedDataParallel's copies")
	}
	sum, shapes := e.kept(false)
	e.add(
		memory.Gradients, sum, "stand-in gradients", "one in the weights' format for each of %d shapes of weights",
		shapes,
	)
}

// kept sums up the tensors that all micro-batches share, one of each name:
// weights' copies or gradients' stand-ins.
func (e *explainer) kept(weights bool) (bytes int64, n int) {
	seen := make(map[string]bool)
	for _, chunk := range e.stage.Chunks {
		for i := range chunk.Model.Tensors {
			if t := &chunk.Model.Tensors[i]; t.Kept && t.Weights == weights && !seen[t.Name] {
				seen[t.Name] = true
				bytes += t.Bytes
			}
		}
	}
	return bytes, len(seen)
}

func (e *explainer) frozen() {
	var sum int64
	for _, chunk := range e.stage.Chunks {
		for _, bytes := range chunk.Model.Frozen {
			sum += bytes
		}
	}
	if e.job.State.Layout == job.ShardedStates {
		e.add(
			memory.Weights, sum/e.job.Config.Shards(), "frozen weights", "%d B / %d ranks", sum,
			e.job.Config.Shards(),
		)
		return
	}
	e.add(memory.Weights, sum, "frozen weights", "not trained (lora)")
}

// unsharded is what FSDP holds whole: a pipeline's stage during a step, else the
// units that stay gathered from the forward to the backward.
func (e *explainer) unsharded(n int64) {
	if e.job.Config.GathersOnce() {
		e.each(memory.Weights, "gathered weights", n, e.job.State.ReadBytes, " during a step")
		e.each(memory.Gradients, "unsharded gradients", n, e.job.State.SummedBytes, " during a step")
		return
	}
	var most, units int64
	for _, chunk := range e.stage.Chunks {
		if bytes, n := mostGathered(chunk); bytes > most {
			most, units = bytes, n
		}
	}
	e.add(memory.Weights, most, "gathered weights", "at most, of %d units at a time", units)
}

// activations explains what a chunk keeps from the forward to the backward: of
// layers that keep the same, the first one tensor by tensor, all layers, and the
// ends.
func (e *explainer) activations(index int, f inFlight) {
	chunk := e.stage.Chunks[index]
	layers, ends := keptByLayer(chunk)
	all := ends
	var terms []string
	for len(layers) > 0 {
		first, alike := layers[0], int64(0)
		rest := layers[:0:0]
		for _, l := range layers {
			if l.bytes != first.bytes {
				rest = append(rest, l)
				continue
			}
			alike++
		}
		for _, t := range first.tensors {
			e.add(memory.Activations, t.Bytes, t.Name, "%d rows x %d x %d B", t.Rows, t.Width, t.Element)
			e.lines[len(e.lines)-1].Detail = true
		}
		terms = append(terms, fmt.Sprintf("%d layers x %d B", alike, first.bytes))
		all += alike * first.bytes
		layers = rest
	}
	if all == 0 {
		return
	}
	name := "activations"
	if len(e.stage.Chunks) > 1 {
		name = fmt.Sprintf("activations of chunk %d", index)
	}
	terms = append(terms, fmt.Sprintf("%d B at the ends", ends))
	e.add(
		memory.Activations, f.whole*all, name, "%d micro-batches in flight x (%s)", f.whole,
		strings.Join(terms, " + "),
	)
	e.add(
		memory.Activations, f.awaitingWeights*awaitingBytes(chunk), name+" for weights",
		"%d micro-batches x %d B that the gradients of the weights still need", f.awaitingWeights,
		awaitingBytes(chunk),
	)
}

// prefetched is the only part of the temporaries that a formula gives.
func (e *explainer) prefetched() {
	p := e.job.Config.Prefetched()
	e.add(
		memory.Temporaries, p.Bytes(), "prefetched batches", "%d workers x %d batches x %d B", p.Workers, p.Batches,
		p.BatchBytes,
	)
}

// outside explains what PyTorch's allocator does not hold.
func (e *explainer) outside(stage int) {
	j := e.job
	rank := stage * j.Config.Parallel.RanksPerStage()
	if j.Config.Framework.EagerCommunicators {
		e.add(memory.CommBuffers, eagerBytes(j, rank), "NCCL buffers", "rings and trees of every communicator")
	} else {
		for kind := range model.NumGroups {
			if id := j.GroupOf[kind]; id != nil && id[rank] >= 0 {
				g := &j.Groups[id[rank]]
				e.add(
					memory.CommBuffers, g.Comm.MemoryBytes(operations(j, kind)...), "NCCL, "+kind.String(),
					"%d ranks", len(g.Ranks),
				)
			}
		}
		e.add(memory.CommBuffers, pipelineBytes(j, stage), "NCCL, pipeline", "sends and receives")
	}
	e.add(memory.Context, contextBytes(j), "CUDA context", "with its kernels")
}

// each adds so many bytes of each of the stage's parameters.
func (e *explainer) each(kind memory.Kind, part string, n, bytes int64, remark string) {
	e.add(kind, n*bytes, part, "%d parameters x %d B%s", n, bytes, remark)
}

func (e *explainer) add(kind memory.Kind, bytes int64, part, formula string, args ...any) {
	if bytes > 0 {
		e.lines = append(e.lines, Line{Kind: kind, Part: part, Formula: fmt.Sprintf(formula, args...), Bytes: bytes})
	}
}
