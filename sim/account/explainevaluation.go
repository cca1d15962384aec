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
		if cc := e.stage.Evaluation[i].Chunks[0]; cc != most {
			if n := mostAlive(cc); n > bytes {
				most, bytes = cc, n
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
	e.add(memory.Activations, bytes, "activations of the evaluation", "a pass of %d sequences: %s", c.EvaluationBatch(), how)
	e.lines[len(e.lines)-1].Evaluation = true
}

// mostAlive returns the most bytes that a pass holds at one time.
func mostAlive(cc *code.Chunk) int64 {
	s := newAliveSet(cc, func(id model.TensorID) bool {
		t := &cc.Chunk.Tensors[id]
		return !t.Weights && !t.Kept
	})
	s.pass(cc.Chunk.Forward, cc.ForwardTensors)
	return s.most
}

// keptByPass spells out what a pass keeps to its end, by layer, and what is there
// beside it for a while, where it holds the most bytes.
func keptByPass(cc *code.Chunk, most int64) string {
	kept := *cc
	kept.Saved = code.LeftBehind(cc.Chunk, cc.ForwardTensors)
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
