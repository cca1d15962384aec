package text

import (
	"fmt"
	"strings"

	"trainsim/sim/report"
	"trainsim/sim/report/quantity"
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
	"fragmentation": "for want of one piece: all that the job allocates would fit, " +
		"but it is scattered (fragmentation)",
}

// writeOOM says who ran out of memory where, what was asked for and what was
// there, and what the job would need.
func writeOOM(b *strings.Builder, o *report.OOM) {
	at := ""
	if o.Action != o.Phase {
		at = fmt.Sprintf(", at %s of step %d (%s)", o.Action, o.Step+1, quantity.Seconds(o.At))
	}
	fmt.Fprintf(b, "OUT OF MEMORY on rank %d (stage %d) %s%s\n", o.Rank, o.Stage, phaseWords[o.Phase], at)
	fmt.Fprintf(b, "  asked for   %s for %q\n", quantity.Size(o.Requested), o.Tensor)
	of := quantity.Size(o.Capacity)
	if o.Allowed > 0 {
		of += ", " + quantity.Size(o.Allowed) + " allowed to PyTorch by memory.memory_fraction:"
	}
	fmt.Fprintf(b, "  of %s  %s allocated, %s reserved and idle", of, quantity.Size(o.Allocated),
		quantity.Size(o.Idle))
	if o.IdlePieces == 1 {
		fmt.Fprintf(b, " (one piece for such requests, of %s)", quantity.Size(o.LargestIdle))
	}
	if o.IdlePieces > 1 {
		fmt.Fprintf(b, " (%d pieces for such requests, the largest %s)", o.IdlePieces, quantity.Size(o.LargestIdle))
	}
	fmt.Fprintf(b, ", %s CUDA context and NCCL, %s left\n", quantity.Size(o.Outside), quantity.Size(o.Free))
	fmt.Fprintf(b, "  needed      %s at the peak: %s\n", quantity.Size(o.Needed), kindsText(&o.AtPeak))
	if p := o.Prefetched; p != nil {
		fmt.Fprintf(b, "  prefetched  %s of the temporaries are batches that wait on the GPU: "+
			"%d workers x %d batches x %s\n",
			quantity.Size(p.Bytes), p.Workers, p.Batches, quantity.Size(p.BatchBytes))
	}
}

// kindsText lists the kinds that there are.
func kindsText(p *report.AtPeak) string {
	var out []string
	for _, k := range p.Kinds() {
		if k.Bytes > 0 {
			out = append(out, strings.TrimSuffix(k.Name, " state")+" "+quantity.Size(k.Bytes))
		}
	}
	return strings.Join(out, ", ")
}
