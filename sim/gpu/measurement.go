package gpu

import (
	"fmt"

	"trainsim/sim"
)

// Measurement is one published or measured time of a kernel on a device.
type Measurement struct {
	// ID says which row it is: the file's name and line.
	ID string
	// Device is the name of the GPU as the file has it.
	Device string
	// Operation groups measurements of the same kind, as in "gemm TN".
	Operation string
	// Kernels are what ran, one after the other.
	Kernels []Kernel
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
func (m *Measurement) Predict(d *Device) sim.Time {
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
func (m *Measurement) Error(d *Device) float64 {
	return m.Predict(d).Seconds()/m.Seconds - 1
}

// Is reports whether a file's name for a GPU means this device: the preset's
// name or one of its aliases, in any case.
func (d *Device) Is(name string) bool {
	if sameName(name, d.Name) {
		return true
	}
	for _, a := range d.Aliases {
		if sameName(name, a) {
			return true
		}
	}
	return false
}

// sameName compares names of GPUs without case, blanks, hyphens and the maker.
func sameName(a, b string) bool { return plainName(a) == plainName(b) && plainName(a) != "" }

func plainName(s string) string {
	var out []byte
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'A' && c <= 'Z':
			out = append(out, c+'a'-'A')
		case c != ' ' && c != '-' && c != '_':
			out = append(out, c)
		}
	}
	const maker = "nvidia"
	if len(out) > len(maker) && string(out[:len(maker)]) == maker {
		out = out[len(maker):]
	}
	return string(out)
}

// String describes the measurement in a line.
func (m *Measurement) String() string {
	return fmt.Sprintf("%s: %s on %s: %v", m.ID, m.Operation, m.Device, sim.FromSeconds(m.Seconds))
}
