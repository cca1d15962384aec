package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"trainsim/memory"
	"trainsim/sim/report"
	"trainsim/sim/step"
)

// memoryParts is a stage's memory taken apart.
type memoryParts struct {
	Stage int          `json:"stage"`
	Parts []memoryPart `json:"parts"`
}

// memoryPart is one line of an explanation.
type memoryPart struct {
	Kind    string `json:"kind"`
	Part    string `json:"part"`
	Formula string `json:"formula"`
	Bytes   int64  `json:"bytes"`
	// OfOneLayer marks a tensor that the line of all activations counts again.
	OfOneLayer bool `json:"of_one_layer"`
}

// explained takes a stage apart. What the account finds beyond the formulas are
// the temporaries at the peak, and the rounding of blocks.
func explained(job *step.Job, s *report.StageMemory) memoryParts {
	out := memoryParts{Stage: s.Stage}
	for _, l := range job.Explain(s.Stage) {
		out.Parts = append(out.Parts, memoryPart{l.Kind.String(), l.Part, l.Formula, l.Bytes, l.Detail})
	}
	if n := s.AtPeak.Temporaries; n > 0 {
		out.Parts = append(out.Parts, memoryPart{memory.Temporaries.String(), "temporaries", "at the peak, by replaying the allocations", n, false})
	}
	if n := s.PeakReserved - s.PeakAllocated; n > 0 {
		out.Parts = append(out.Parts, memoryPart{"reserved", "idle in segments", "peak reserved - peak allocated, by replaying the allocations", n, false})
	}
	return out
}

// writeExplained prints the parts of each stage, a layer's tensors indented.
func writeExplained(out io.Writer, list []memoryParts) error {
	for _, e := range list {
		fmt.Fprintf(out, "\nstage %d, in GiB\n", e.Stage)
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for _, p := range e.Parts {
			indent := ""
			if p.OfOneLayer {
				indent = "  a layer's "
			}
			fmt.Fprintf(w, "  %s\t%8.3f\t%s%s\t%s\n", p.Kind, gib(p.Bytes), indent, p.Part, p.Formula)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}
