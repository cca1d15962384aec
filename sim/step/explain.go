package step

import (
	"fmt"
	"strings"

	"trainsim/memory"
	"trainsim/sim/model"
	"trainsim/sim/trace"
)

// Line is one part of a stage's memory with the formula that it follows from.
type Line struct {
	Kind          memory.Kind
	Part, Formula string
	Bytes         int64
	// Detail marks a tensor of one layer, which a later line counts again.
	Detail bool
}

// Explain takes a stage's memory apart, in the order of memory's kinds: what
// stays, what a layer keeps for the backward, what lies outside PyTorch. Blocks
// are not rounded here, and temporaries are in the account alone.
func (j *Job) Explain(stage int) []Line {
	e := &explainer{job: j, stage: &j.stages[stage]}
	e.state()
	for i, cc := range e.stage.chunks {
		e.activations(i, cc)
	}
	e.outside(stage)
	return e.lines
}

type explainer struct {
	job   *Job
	stage *stage
	lines []Line
}

func (e *explainer) add(kind memory.Kind, bytes int64, part, formula string, args ...any) {
	if bytes > 0 {
		e.lines = append(e.lines, Line{Kind: kind, Part: part, Formula: fmt.Sprintf(formula, args...), Bytes: bytes})
	}
}

// state explains weights, gradients and the optimizer.
func (e *explainer) state() {
	j, n := e.job, e.stage.gradElements
	b := StateOf(j.spec.Precision, j.spec.GradDtype, j.opt, j.dp.zero, j.Config.shards())
	layout := j.Config.stateLayout()
	part := func(kind memory.Kind, name string, each float64, full int64, spread bool) {
		if spread && j.Config.shards() > 1 && j.dp.zero > 0 {
			e.add(kind, int64(each*float64(n)), name, "%d parameters x %d B / %d ranks", n, full, j.Config.shards())
			return
		}
		e.add(kind, full*n, name, "%d parameters x %d B", n, full)
	}
	if layout == shardedLayout {
		part(memory.Weights, "weight shards", 4/float64(j.Config.shards()), 4, true)
		part(memory.Gradients, "gradient shards", 4/float64(j.Config.shards()), 4, true)
	} else {
		part(memory.Weights, "weights", b.Weights, j.dp.paramBytes, false)
		e.gradients(n, layout)
		part(memory.Optimizer, "fp32 master weights", b.Master, j.opt.Master, true)
	}
	part(memory.Optimizer, "optimizer states", b.States, j.opt.States, true)
	e.frozen(layout)
}

func (e *explainer) gradients(n int64, layout stateLayout) {
	j := e.job
	e.add(memory.Gradients, n*j.dp.gradBytes, "gradients", "%d parameters x %d B", n, j.dp.gradBytes)
	switch {
	case layout == deepspeedLayout && j.splitGrads():
		e.add(memory.Gradients, n*j.dp.paramBytes, "16-bit gradients", "%d parameters x %d B beside those that accumulate", n, j.dp.paramBytes)
	case layout == plainLayout && j.dp.ranks > 1:
		e.add(memory.Gradients, n*j.dp.gradBytes, "gradient buckets", "%d parameters x %d B, DistributedDataParallel's copies", n, j.dp.gradBytes)
	}
	e.standIns()
}

// standIns are the gradients' stand-ins, one of each shape.
func (e *explainer) standIns() {
	seen := make(map[string]bool)
	var sum int64
	for _, cc := range e.stage.chunks {
		for i := range cc.chunk.Tensors {
			if t := &cc.chunk.Tensors[i]; t.Kept && !seen[t.Name] {
				seen[t.Name] = true
				sum += t.Bytes
			}
		}
	}
	e.add(memory.Gradients, sum, "stand-in gradients", "one in the weights' format for each of %d shapes of weights", len(seen))
}

func (e *explainer) frozen(layout stateLayout) {
	var sum int64
	for _, cc := range e.stage.chunks {
		for _, bytes := range cc.chunk.Frozen {
			sum += bytes
		}
	}
	if layout == shardedLayout {
		e.add(memory.Weights, sum/e.job.Config.shards(), "frozen weights", "%d B / %d ranks", sum, e.job.Config.shards())
		return
	}
	e.add(memory.Weights, sum, "frozen weights", "not trained (lora)")
}

// activations explains what a chunk keeps from the forward to the backward:
// its first layer tensor by tensor, all layers, and the ends.
func (e *explainer) activations(index int, cc *chunkCode) {
	flight := e.job.inFlight(e.stage, index)
	var layer, all int64
	for id := range cc.chunk.Tensors {
		t := &cc.chunk.Tensors[id]
		if !cc.saved[id] || !writtenIn(cc.chunk.Forward, model.TensorID(id)) {
			continue
		}
		all += t.Bytes
		if strings.HasPrefix(t.Name, "layer0.") {
			layer += t.Bytes
			e.add(memory.Activations, t.Bytes, t.Name, "%d rows x %d x %d B", t.Rows, t.Width, t.Element)
			e.lines[len(e.lines)-1].Detail = true
		}
	}
	if all == 0 {
		return
	}
	name := "activations"
	if len(e.stage.chunks) > 1 {
		name = fmt.Sprintf("activations of chunk %d", index)
	}
	layers := int64(cc.chunk.Layers)
	e.add(memory.Activations, flight*all, name, "%d micro-batches in flight x (%d layers x %d B + %d B at the ends)", flight, layers, layer, all-layers*layer)
}

func writtenIn(ops []model.Op, id model.TensorID) bool {
	for i := range ops {
		for _, w := range ops[i].Writes {
			if w == id {
				return true
			}
		}
	}
	return false
}

// inFlight returns how many micro-batches of a chunk are between forward and
// backward at most.
func (j *Job) inFlight(s *stage, chunk int) int64 {
	var now, most int64
	for i := range s.script {
		for _, p := range s.script[i].list() {
			if p.microbatch < 0 || int(p.chunk) != chunk {
				continue
			}
			switch p.kind {
			case trace.Forward:
				now++
				most = max(most, now)
			case trace.Backward, trace.BackwardWeight:
				now--
			}
		}
	}
	return most
}

// outside explains what PyTorch's allocator does not hold.
func (e *explainer) outside(stage int) {
	j := e.job
	rank := stage * j.Config.Parallel.columns()
	if j.Config.Host.Framework == "deepspeed" {
		e.add(memory.CommBuffers, j.eagerBytes(rank), "NCCL buffers", "rings and trees of every communicator")
	} else {
		for kind := range model.NumGroups {
			if id := j.groupOf[kind]; id != nil && id[rank] >= 0 {
				g := &j.groups[id[rank]]
				e.add(memory.CommBuffers, g.comm.MemoryBytes(j.operations(kind)...), "NCCL, "+kind.String(), "%d ranks", len(g.ranks))
			}
		}
		e.add(memory.CommBuffers, j.pipelineBytes(stage), "NCCL, pipeline", "sends and receives")
	}
	e.add(memory.Context, j.contextBytes(), "CUDA context", "with its kernels")
}
