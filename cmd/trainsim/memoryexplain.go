package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"trainsim/memory"
	"trainsim/sim/account"
	"trainsim/sim/job"
	"trainsim/sim/report"
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
	// NotAtPeak marks activations of the step where the peak is in the evaluation
	// behind it, and those of the evaluation where it is in the step.
	NotAtPeak bool `json:"not_at_peak,omitempty"`
}

// explained takes a stage apart. What the account finds beyond the formulas are
// the temporaries at the peak, and the rounding of blocks.
func explained(j *job.Job, s *report.StageMemory) memoryParts {
	out := memoryParts{Stage: s.Stage}
	passing := s.AtPeak.Temporaries
	for _, l := range account.Explain(j, s.Stage) {
		if l.Kind == memory.Temporaries {
			passing -= l.Bytes
		}
		out.Parts = append(out.Parts, memoryPart{l.Kind.String(), l.Part, l.Formula, l.Bytes, l.Detail,
			l.Kind == memory.Activations && l.Evaluation != s.PeakInEvaluation})
	}
	if n := passing; n > 0 {
		out.Parts = append(out.Parts, memoryPart{memory.Temporaries.String(), "temporaries",
			"at the peak, by replaying the allocations", n, false, false})
	}
	if n := s.PeakReserved - s.PeakAllocated; n > 0 {
		out.Parts = append(out.Parts, memoryPart{"reserved", "idle in segments",
			"peak reserved - peak allocated, by replaying the allocations", n, false, false})
	}
	return out
}

// optimizerBytes is what a parameter holds on one rank under an optimizer.
type optimizerBytes struct {
	Optimizer string  `json:"optimizer"`
	Weights   float64 `json:"weights"`
	Gradients float64 `json:"gradients"`
	// MainGrads is there during the optimizer's step only.
	MainGrads float64 `json:"fp32_gradients"`
	Master    float64 `json:"master_weights"`
	States    float64 `json:"states"`
	Sum       float64 `json:"sum"`
}

// optimizerTable is the bytes a parameter of a job under each optimizer.
func optimizerTable(j *job.Job) ([]optimizerBytes, error) {
	list, err := j.OptimizerTable()
	out := make([]optimizerBytes, len(list))
	for i, b := range list {
		out[i] = optimizerBytes{b.Optimizer, b.Weights, b.Gradients, b.MainGrads, b.Master, b.States, b.Sum()}
	}
	return out, err
}

// writeOptimizers prints the bytes a parameter, the scenario's optimizer marked.
func writeOptimizers(out io.Writer, cfg *job.Config, list []optimizerBytes) error {
	if len(list) == 0 {
		return nil
	}
	fmt.Fprintf(out, "\nBytes a trained parameter on a rank, by training.optimizer (%s, gradients in %s, ZeRO %d)\n",
		cfg.Training.Precision, cfg.Training.GradPrecision, cfg.Parallel.ZeRO)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "optimizer\tweights\tgradients\tfp32 gradients\tmaster\tstates\tsum\t")
	for _, b := range list {
		mark := ""
		if b.Optimizer == cfg.Training.Optimizer {
			mark = "  <- this job"
		}
		fmt.Fprintf(w, "%s\t", b.Optimizer)
		for _, x := range []float64{b.Weights, b.Gradients, b.MainGrads, b.Master, b.States, b.Sum} {
			fmt.Fprintf(w, "%.4g\t", x)
		}
		fmt.Fprintf(w, "%s\n", mark)
	}
	return w.Flush()
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
			formula := p.Formula
			if p.NotAtPeak && !p.OfOneLayer {
				formula += ", not at the peak"
			}
			fmt.Fprintf(w, "  %s\t%8.3f\t%s%s\t%s\n", p.Kind, gib(p.Bytes), indent, p.Part, formula)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}
