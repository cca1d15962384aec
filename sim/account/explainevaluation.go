package account

import (
	"fmt"
	"strings"

	"trainsim/memory"
	"trainsim/sim/code"
	"trainsim/sim/model"
)

// explainEvaluation is what a pass holds at most: all that its backward would
// need, or each tensor until it has been read. One pass of a chunk is over before
// the next begins.
func (e *explainer) explainEvaluation() {
	var most *code.Chunk
	var bytes int64
	for i := range e.stage.Evaluation {
		if chunk := e.stage.Evaluation[i].Chunks[0]; chunk != most {
			if n := mostLive(chunk); n > bytes {
				most, bytes = chunk, n
			}
		}
	}
	if most == nil {
		return
	}
	c := e.job.Config
	how := "each tensor until it has been read"
	if c.Evaluation.KeepActivations {
		how = keptByPass(most, bytes)
	}
	e.add(
		memory.Activations, bytes, "activations of the evaluation", "a pass of %d sequences: %s",
		c.EvaluationBatch(), how,
	)
	e.lines[len(e.lines)-1].Evaluation = true
}

// mostLive returns the most bytes that a pass holds at one time.
func mostLive(chunk *code.Chunk) int64 {
	s := newLiveTensors(chunk, func(id model.TensorID) bool {
		t := &chunk.Model.Tensors[id]
		return !t.Weights && !t.Kept
	})
	s.pass(chunk.Model.Forward, chunk.ForwardFrees)
	return s.most
}

// keptByPass spells out what a pass keeps to its end, by layer, and what is there
// beside it for a while, where it holds the most bytes.
func keptByPass(chunk *code.Chunk, most int64) string {
	kept := *chunk
	kept.Saved = code.SavedByForward(chunk.Model, chunk.ForwardFrees)
	layers, ends := keptByLayer(&kept)
	most -= ends
	var of []int64 // bytes of the layers that differ
	count := make(map[int64]int)
	for _, l := range layers {
		if count[l.bytes] == 0 {
			of = append(of, l.bytes)
		}
		count[l.bytes]++
		most -= l.bytes
	}
	var b strings.Builder
	for _, bytes := range of {
		fmt.Fprintf(&b, "%d layers x %d B + ", count[bytes], bytes)
	}
	fmt.Fprintf(&b, "%d B at the ends + %d B of operators at work", ends, most)
	return b.String()
}
