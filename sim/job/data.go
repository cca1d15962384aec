package job

import (
	"cmp"
	"errors"

	"trainsim/sim/input"
)

// Validate returns what is wrong, each with the key in its table.
func (d *Data) Validate(seqLen int64) error {
	var out []error
	switch d.Lengths {
	case "", "fixed":
	case "uniform":
		if d.MinLength < 1 || int64(d.MinLength) > seqLen {
			out = append(out, input.Bad("min_length",
				"%d is not from 1 to model.seq_len = %d; write the shortest sequence", d.MinLength, seqLen))
		}
	case "list":
		if len(d.LengthList) == 0 {
			out = append(out, input.Bad("length_list",
				"lengths = \"list\" draws from it, but it is empty; write the lengths, as in [512, 2048]").
				With("lengths"))
		}
		for _, n := range d.LengthList {
			if n < 1 || int64(n) > seqLen {
				out = append(out, input.Bad("length_list",
					"%d is not from 1 to model.seq_len = %d; write sequences that the model takes", n, seqLen))
				break
			}
		}
	default:
		out = append(out, input.Bad("lengths", "%q is unknown; write fixed, uniform or list", d.Lengths))
	}
	return errors.Join(out...)
}

// AccountSteps is how many steps the account runs, and a simulation of different
// lengths.
func (c *Config) AccountSteps() int {
	if c.Data.Dynamic() {
		return max(steadySteps, c.Data.Steps)
	}
	return steadySteps
}

// steadySteps is how many steps the account runs: optimizer states appear at
// the end of the first, so that the second has the steady peak. One more runs
// if the driver had work in the second.
const steadySteps = 2

// Dynamic reports whether micro-batches do.
func (d *Data) Dynamic() bool { return !d.Pad && d.varies() }

// varies reports whether sequences differ in length.
func (d *Data) varies() bool { return d.Lengths == "uniform" || d.Lengths == "list" }

// EvaluationBatch returns the sequences of a pass of the evaluation.
func (c *Config) EvaluationBatch() int {
	return cmp.Or(c.Evaluation.BatchSize, c.Schedule.MicrobatchSize)
}

// Prefetched is what waits on the GPU for its turn: Batches of BatchBytes of
// each worker, all zero where batches wait in host memory.
type Prefetched struct {
	Workers, Batches int
	BatchBytes       int64
}

// Prefetched returns what a job loads ahead.
func (c *Config) Prefetched() Prefetched {
	d := &c.Data
	if !d.GPUPrefetch {
		return Prefetched{}
	}
	sample := int64(d.SampleBytes)
	if sample == 0 {
		sample = c.Model.SampleBytes()
	}
	return Prefetched{d.Workers, d.Prefetch, sample * int64(c.Schedule.MicrobatchSize)}
}

// Bytes is all of it.
func (p Prefetched) Bytes() int64 { return int64(p.Workers*p.Batches) * p.BatchBytes }
