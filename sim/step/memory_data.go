package step

import (
	"errors"
	"fmt"

	"trainsim/memory"
	"trainsim/sim"
	"trainsim/sim/model"
)

// Data is how samples reach the GPU: their lengths and what is loaded ahead.
type Data struct {
	// Workers is how many loader processes there are, Prefetch how many batches
	// each keeps ready; with GPUPrefetch they are ready on the GPU.
	Workers     int  `toml:"workers"`
	Prefetch    int  `toml:"prefetch"`
	GPUPrefetch bool `toml:"gpu_prefetch"`
	// SampleBytes is the size of a sample as it is loaded; 0 is three int64
	// values a token: the input, its mask and the labels.
	SampleBytes sim.Bytes `toml:"sample_bytes"`
	// Lengths says how long the sequences of a micro-batch are: fixed (the
	// model's seq_len), uniform from MinLength to seq_len, or list, drawn from
	// LengthList. Micro-batches of different lengths make the account run Steps
	// steps; Pad pads each to seq_len, the control.
	Lengths     string `toml:"lengths"`
	MinLength   int    `toml:"min_length"`
	LengthList  []int  `toml:"length_list"`
	LengthsFile string `toml:"lengths_file"`
	Pad         bool   `toml:"pad"`
	Steps       int    `toml:"steps"`
}

// Evaluation is a phase of forward passes behind each step.
type Evaluation struct {
	Batches   int `toml:"batches"`    // 0: none
	BatchSize int `toml:"batch_size"` // sequences; 0: as in training
	// KeepActivations runs it without torch.no_grad: what a backward would need
	// lives to the end of the pass.
	KeepActivations bool `toml:"keep_activations"`
}

// Validate returns what is wrong, each with the key in its table.
func (d *Data) Validate(seqLen int64) error {
	var out []error
	switch d.Lengths {
	case "", "fixed":
	case "uniform":
		if d.MinLength < 1 || int64(d.MinLength) > seqLen {
			out = append(out, fmt.Errorf("min_length: %d is not from 1 to model.seq_len = %d; write the shortest sequence", d.MinLength, seqLen))
		}
	case "list":
		if len(d.LengthList) == 0 {
			out = append(out, fmt.Errorf("length_list: lengths = \"list\" draws from it, but it is empty; write the lengths, as in [512, 2048]"))
		}
		for _, n := range d.LengthList {
			if n < 1 || int64(n) > seqLen {
				out = append(out, fmt.Errorf("length_list: %d is not from 1 to model.seq_len = %d; write sequences that the model takes", n, seqLen))
				break
			}
		}
	default:
		out = append(out, fmt.Errorf("lengths: %q is unknown; write fixed, uniform or list", d.Lengths))
	}
	return errors.Join(out...)
}

// dynamic reports whether micro-batches differ in length.
func (d *Data) dynamic() bool { return !d.Pad && (d.Lengths == "uniform" || d.Lengths == "list") }

// steps is how many steps the account runs.
func (c *Config) steps() int {
	if c.Data.dynamic() {
		return max(steadySteps, c.Data.Steps)
	}
	return steadySteps
}

// loadAhead allocates the batches that wait on the GPU.
func (a *account) loadAhead() {
	d := &a.job.Config.Data
	if !d.GPUPrefetch {
		return
	}
	sample := int64(d.SampleBytes)
	if sample == 0 {
		sample = 3 * 8 * a.job.Config.Model.SeqLen
	}
	for range d.Workers * d.Prefetch {
		a.malloc("loaded batch", sample*int64(a.job.Config.Schedule.MicrobatchSize), memory.Temporaries)
	}
}

// lengths draws the sequence length of every micro-batch of every step, the
// same on all ranks. Lengths are rounded up to what the parallel layout and
// the kernels divide.
func (c *Config) lengths(microbatches int) [][]int64 {
	d := &c.Data
	if !d.dynamic() {
		return nil
	}
	rnd := sim.NewRand(c.Seed, "sequence lengths")
	multiple := int64(8 * c.Parallel.TP * c.Parallel.CP)
	out := make([][]int64, c.steps())
	for s := range out {
		out[s] = make([]int64, microbatches)
		for m := range out[s] {
			var n int64
			if d.Lengths == "list" {
				n = int64(d.LengthList[rnd.IntN(len(d.LengthList))])
			} else {
				n = int64(d.MinLength) + rnd.Int64N(c.Model.SeqLen-int64(d.MinLength)+1)
			}
			out[s][m] = min(c.Model.SeqLen, (n+multiple-1)/multiple*multiple)
		}
	}
	return out
}

// sized returns the tensors of a chunk for sequences of a length: the same
// ones with other sizes.
func (a *account) sized(cc *chunkCode, length int64) []model.Tensor {
	if length == a.job.Config.Model.SeqLen {
		return cc.chunk.Tensors
	}
	key := sizeKey{cc, length}
	if t, ok := a.sizes[key]; ok {
		return t
	}
	spec := *a.job.spec
	spec.SeqLen = length
	t := spec.Build(0, cc.chunk.Layers, cc.chunk.First, cc.chunk.Last).Tensors
	a.sizes[key] = t
	return t
}

// sizeKey names a chunk's tensors at a sequence length.
type sizeKey struct {
	code   *chunkCode
	length int64
}
