package report

import (
	"fmt"
	"strings"
)

// phaseWords says in plain words when memory ran out.
var phaseWords = map[string]string{
	"start-up":       "at start-up, before the first step",
	"first-forward":  "in the first forward",
	"forward":        "in a forward",
	"first-backward": "in the first backward, where gradients appear",
	"backward":       "in a backward",
	"optimizer-step": "in the optimizer's step",
	"evaluation":     "in the evaluation behind a step",
	"fragmentation":  "for want of one piece: all that the job allocates would fit, but it is scattered (fragmentation)",
}

// write says who ran out of memory where, what was asked for and what was
// there, and what the job would need.
func (o *OOM) write(b *strings.Builder) {
	at := ""
	if o.Action != o.Phase {
		at = fmt.Sprintf(", at %s of step %d (%s)", o.Action, o.Step+1, seconds(o.At))
	}
	fmt.Fprintf(b, "OUT OF MEMORY on rank %d (stage %d) %s%s\n", o.Rank, o.Stage, phaseWords[o.Phase], at)
	fmt.Fprintf(b, "  asked for   %s for %q\n", size(o.Requested), o.Tensor)
	of := size(o.Capacity)
	if o.Allowed > 0 {
		of += ", " + size(o.Allowed) + " allowed to PyTorch by memory.memory_fraction:"
	}
	fmt.Fprintf(b, "  of %s  %s allocated, %s reserved and idle", of, size(o.Allocated), size(o.Idle))
	if o.IdlePieces == 1 {
		fmt.Fprintf(b, " (one piece for such requests, of %s)", size(o.LargestIdle))
	}
	if o.IdlePieces > 1 {
		fmt.Fprintf(b, " (%d pieces for such requests, the largest %s)", o.IdlePieces, size(o.LargestIdle))
	}
	fmt.Fprintf(b, ", %s CUDA context and NCCL, %s left\n", size(o.Outside), size(o.Free))
	fmt.Fprintf(b, "  needed      %s at the peak: %s\n", size(o.Needed), o.AtPeak.text())
	if p := o.Prefetched; p != nil {
		fmt.Fprintf(b, "  prefetched  %s of the temporaries are batches that wait on the GPU: %d workers x %d batches x %s\n", size(p.Bytes), p.Workers, p.Batches, size(p.BatchBytes))
	}
}

// Needs says what a rank would need of what there is.
func (o *OOM) Needs() string {
	return needs(o.Needed, o.Outside, o.Capacity, o.Allowed)
}

// needs compares a peak with what there is: the device or, where memory_fraction
// allows less, what PyTorch may reserve, without what lies outside.
func needs(peak, outside, capacity, allowed int64) string {
	if allowed > 0 {
		return fmt.Sprintf("%s reserved of the %s that memory.memory_fraction allows", gib(peak-outside), gib(allowed))
	}
	return fmt.Sprintf("%s of %s", gib(peak), gib(capacity))
}

// text lists the kinds that there are.
func (p *AtPeak) text() string {
	var out []string
	for _, k := range []struct {
		name  string
		bytes int64
	}{
		{"weights", p.Weights}, {"gradients", p.Gradients}, {"optimizer", p.Optimizer}, {"activations", p.Activations},
		{"temporaries", p.Temporaries}, {"communication buffers", p.CommBuffers}, {"context", p.Context},
	} {
		if k.bytes > 0 {
			out = append(out, k.name+" "+size(k.bytes))
		}
	}
	return strings.Join(out, ", ")
}
