package measured

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"trainsim/scenarios"
	"trainsim/scenarios/machines"
	"trainsim/sim"
	"trainsim/sim/gpu"
)

// KernelTime is one published or measured time of a kernel on a device.
type KernelTime struct {
	// ID says which row it is: the file's name and line.
	ID string
	// Device is the name of the GPU as the file has it.
	Device string
	// Operation groups measurements of the same kind, as in "gemm TN".
	Operation string
	// Kernels are what ran, one after the other.
	Kernels []gpu.Kernel
	// Prefill marks the inference library's attention kernel.
	Prefill bool
	// Repeats is how often the benchmark launched the kernels in a row.
	Repeats int
	// HostPerLaunch is what the benchmark's host spends on a launch, which the GPU
	// waits for where it is faster.
	HostPerLaunch sim.Time
	// Seconds is the measured time of one pass over Kernels.
	Seconds float64
	// Skipped says why the row cannot be predicted; empty where it can.
	Skipped string
}

// Predict returns the device's time for what was measured.
func (m *KernelTime) Predict(d *gpu.Device) sim.Time {
	if m.Prefill {
		own := *d
		own.Attention.Forward = d.Attention.Prefill
		d = &own
	}
	var t sim.Time
	for i := range m.Kernels {
		k := &m.Kernels[i]
		t += max(d.TimeAlone(k, m.Repeats), m.HostPerLaunch*sim.Time(max(k.Launches, 1)))
	}
	return t
}

// Error returns (predicted - measured) / measured.
func (m *KernelTime) Error(d *gpu.Device) float64 {
	return m.Predict(d).Seconds()/m.Seconds - 1
}

// kernelRows reads a table of measured kernels.
func kernelRows(text []byte, name string, o Options) ([]Row, error) {
	rows, err := ReadKernels(text, filepath.Base(name))
	if err != nil {
		return nil, err
	}
	find := machines.FindGPU
	if o.GPU != "" {
		own, err := scenarios.LoadGPU(o.GPU)
		if err != nil {
			return nil, err
		}
		find = func(string) (*gpu.Device, error) { return own, nil }
	}
	out := make([]Row, len(rows))
	for i := range rows {
		m := &rows[i]
		out[i] = timed(m.ID, m.Device+" "+m.Operation, m.Seconds, m.Skipped, func() (float64, error) {
			d, err := find(m.Device)
			if err != nil {
				return 0, err
			}
			return m.Predict(d).Seconds(), nil
		})
	}
	return out, nil
}

// errNoKernels is the class of errors for a file that is not a table of kernels.
var errNoKernels = errors.New("not a table of kernel measurements")

// isKernels reports whether a CSV header is that of a table of kernels.
func isKernels(header []string) bool {
	_, ok := kernelReader(newHeader(header))
	return ok
}

// ReadKernels reads a table of measured kernels, a CSV file whose header
// names its columns in any order:
//
//	GEMMs       gpu_type,dtype,m,n,k and time_us or tflops; also batch,layout,out_dtype,accumulate,repeats
//	attention   gpu_type,dtype,batch,seq,heads,kv_heads,head_dim,time_us; also repeats
//	efficiency  gpu_type,op,peak_tflops,shape_key,efficiency (SimuMax's tables)
//
// The name is used in the rows' IDs. A row that lacks a figure is
// returned with Skipped set; a broken file is an error.
func ReadKernels(text []byte, name string) ([]KernelTime, error) {
	c := csv.NewReader(bytes.NewReader(text))
	c.FieldsPerRecord = -1
	names, err := c.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", name, errNoKernels, err)
	}
	h := newHeader(names)
	read, ok := kernelReader(h)
	if !ok {
		return nil, fmt.Errorf("%s: %w: its header has neither m,n,k with time_us or tflops, nor "+
			"batch,seq,heads,head_dim,time_us, nor op,peak_tflops,shape_key,efficiency", name, errNoKernels)
	}
	var out []KernelTime
	for {
		cells, err := c.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := c.FieldPos(0)
		row := kernelRow{header: h, cells: cells}
		out = append(out, row.read(read, fmt.Sprintf("%s:%d", name, line)))
	}
}

// kernelReader chooses how rows are read by the columns that there are.
func kernelReader(h *header) (func(*kernelRow, *KernelTime), bool) {
	switch {
	case h.has("gpu_type", "shape_key", "efficiency", "peak_tflops", "op"):
		return (*kernelRow).efficiency, true
	case h.has("gpu_type", "batch", "seq", "heads", "head_dim", "time_us"):
		return (*kernelRow).attention, true
	case h.has("gpu_type", "m", "n", "k", "time_us"), h.has("gpu_type", "m", "n", "k", "tflops"):
		return (*kernelRow).gemm, true
	}
	return nil, false
}

// read reads the record; what is wrong with it becomes the reason to skip it.
func (r *kernelRow) read(read func(*kernelRow, *KernelTime), id string) KernelTime {
	m := KernelTime{ID: id, Device: r.text("gpu_type")}
	read(r, &m)
	if r.err == nil && !(m.Seconds > 0 && m.Seconds < 1e6) {
		r.err = errors.New("its time is not a positive number of seconds")
	}
	if r.err != nil {
		m.Skipped = r.err.Error()
	}
	return m
}
