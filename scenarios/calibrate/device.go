package calibrate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"

	"trainsim/scenarios"
	"trainsim/scenarios/measured"
	"trainsim/sim/gpu"
)

// errTooFewKernels is returned where no group has enough measurements.
var errTooFewKernels = errors.New("too few measurements of this device to fit anything")

// errAbovePeak is returned where the measurements are faster than the device's
// peak rates allow: they are another's, or the peak is.
var errAbovePeak = errors.New("faster than the preset's peak rate; write a preset with the GPU's own [peak], sms " +
	"and memory_bandwidth first (trainsim list gpus NAME prints one to start from)")

// GPU fits a device preset to measured kernels. Rows of other GPUs are left out;
// where all rows name the same GPU, whatever they call it, it is taken for the
// device.
func GPU(ctx context.Context, preset string, tables []Table) (*Fit, error) {
	d, err := scenarios.LoadGPU(preset)
	if err != nil {
		return nil, err
	}
	var all []measured.KernelTime
	for _, t := range tables {
		rows, err := measured.ReadKernels(t.Text, filepath.Base(t.Name))
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	takeFor(all, d)
	here := usable(all, d)
	before := newResiduals(here, d).String()
	fitted, after, err := fitDevice(ctx, all, *d)
	if err != nil {
		return nil, err
	}
	out := &Fit{Name: d.Name, Before: before, After: after.String(), Rows: len(all), Fitted: len(here)}
	out.comment = fittedTo("gpu preset "+preset, tables, out.After)
	out.write = func(w io.Writer, comment []string) error { return scenarios.WriteGPU(w, preset, &fitted, comment) }
	return out, nil
}

// takeFor takes the rows of a table with a single GPU for the device.
func takeFor(ms []measured.KernelTime, d *gpu.Device) {
	for i := range ms {
		if d.Is(ms[i].Device) || ms[i].Device != ms[0].Device {
			return
		}
	}
	for i := range ms {
		ms[i].Device = d.Name
	}
}

// fitDevice returns the device with its cost parameters fitted to the measurements of
// this device among ms, and how well it then predicts them. Parameters that
// the measurements do not decide keep their values, to which the others are
// drawn weakly. Without groups all are fitted that have five measurements or
// more. The result depends on nothing but the arguments.
func fitDevice(
	ctx context.Context, ms []measured.KernelTime, d gpu.Device, groups ...group,
) (gpu.Device, residuals, error) {
	here := usable(ms, &d)
	if err := abovePeak(here, &d); err != nil {
		return d, nil, err
	}
	if len(groups) == 0 {
		for g := range group(numberOfGroups) {
			groups = append(groups, g)
		}
	}
	d.GEMM.Tiles = slices.Clone(d.GEMM.Tiles)
	fitted := 0
	for range 2 { // the groups depend on each other weakly: twice is enough
		for _, g := range groups {
			rows := g.rows(here)
			if len(rows) < leastRows {
				continue
			}
			fitted++
			if err := fitGroup(ctx, g, rows, &d); err != nil {
				return d, nil, fmt.Errorf("fitting %v: %w", g, err)
			}
		}
	}
	if fitted == 0 {
		return d, nil, fmt.Errorf("%s: %w; a group needs %d", d.Name, errTooFewKernels, leastRows)
	}
	return d, newResiduals(here, &d), nil
}

// usable drops what was measured elsewhere or cannot be predicted.
func usable(ms []measured.KernelTime, d *gpu.Device) []*measured.KernelTime {
	var out []*measured.KernelTime
	for i := range ms {
		if m := &ms[i]; m.Skipped == "" && len(m.Kernels) > 0 && d.Is(m.Device) {
			out = append(out, m)
		}
	}
	return out
}

// abovePeak checks that most measurements are possible on the device.
func abovePeak(ms []*measured.KernelTime, d *gpu.Device) error {
	above, fastest := 0, 0.0
	for _, m := range ms {
		k := &m.Kernels[len(m.Kernels)-1]
		if k.Kind == gpu.Memory || len(m.Kernels) > 1 {
			continue
		}
		rate := k.FLOPs() / m.Seconds
		if rate > d.Peak(k.In) {
			above++
			fastest = max(fastest, rate)
		}
	}
	if 10*above <= len(ms) {
		return nil
	}
	return fmt.Errorf("%s: %d of %d measurements, up to %.4g TFLOP/s, are %w", d.Name, above, len(ms), fastest/1e12,
		errAbovePeak)
}

// fitGroup minimises the mean loss over a group's parameters.
func fitGroup(ctx context.Context, g group, rows []*measured.KernelTime, d *gpu.Device) error {
	knobs := g.knobs(d)
	prior := make([]float64, len(knobs))
	for i, k := range knobs {
		prior[i] = math.Log(k.get())
	}
	return minimise(ctx, prior, 200, []float64{0.2, 0.1, 0.3, 0.05}, func(z []float64) float64 {
		far := 0.0
		for i, k := range knobs {
			k.set(math.Exp(z[i]))
			e := z[i] - prior[i]
			far += float64(e * e)
		}
		return meanLoss(rows, d) + float64(pull*far)
	})
}

// meanLoss is the mean loss of the measurements.
func meanLoss(rows []*measured.KernelTime, d *gpu.Device) float64 {
	sum := 0.0
	for _, m := range rows {
		sum += loss(m.Predict(d), m.Seconds)
	}
	return sum / float64(len(rows))
}
