package gpu

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"
)

// Group names parameters that are fitted together, on the measurements that
// they decide.
type Group uint8

// The groups, in the order in which they are fitted.
const (
	GroupGEMM      Group = iota // tiles, launch, waves and splits
	GroupLayout                 // layouts and wide results
	GroupPower                  // the power limit
	GroupForward                // fused attention of training, forward
	GroupBackward               // fused attention, backward
	GroupPrefill                // fused attention of the inference library
	numberOfGroups = iota
)

var groupNames = [...]string{"gemm", "layout", "power", "attention forward", "attention backward", "prefill"}

// String returns the group's name.
func (g Group) String() string { return nameOf(groupNames[:], int(g)) }

// leastRows is the smallest number of measurements that a group is fitted to.
const leastRows = 5

// ErrNothingToFit is returned where no group has enough measurements.
var ErrNothingToFit = errors.New("too few measurements of this device to fit anything")

// ErrAbovePeak is returned where the measurements are faster than the device's
// peak rates allow: they are another's, or the peak is.
var ErrAbovePeak = errors.New("faster than the preset's peak rate; write a preset with the GPU's own [peak], sms and memory_bandwidth first (trainsim list gpus NAME prints one to start from)")

// abovePeak checks that most measurements are possible on the device.
func abovePeak(ms []*Measurement, d *Device) error {
	above, fastest := 0, 0.0
	for _, m := range ms {
		k := &m.Kernels[len(m.Kernels)-1]
		if !k.computes() || len(m.Kernels) > 1 {
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
	return fmt.Errorf("%s: %d of %d measurements, up to %.4g TFLOP/s, are %w", d.Name, above, len(ms), fastest/1e12, ErrAbovePeak)
}

// Fit returns the device with its cost parameters fitted to the measurements of
// this device among ms, and how well it then predicts them. Parameters that
// the measurements do not decide keep their values, to which the others are
// drawn weakly. Without groups all are fitted that have five measurements or
// more. The result depends on nothing but the arguments.
func Fit(ms []Measurement, d Device, groups ...Group) (Device, Residuals, error) {
	here := usable(ms, &d)
	if err := abovePeak(here, &d); err != nil {
		return d, Residuals{}, err
	}
	if len(groups) == 0 {
		for g := range Group(numberOfGroups) {
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
			if err := fitGroup(g, rows, &d); err != nil {
				return d, Residuals{}, fmt.Errorf("fitting %v: %w", g, err)
			}
		}
	}
	if fitted == 0 {
		return d, Residuals{}, fmt.Errorf("%s: %w; a group needs %d", d.Name, ErrNothingToFit, leastRows)
	}
	return d, NewResiduals(here, &d), nil
}

// usable drops what was measured elsewhere or cannot be predicted.
func usable(ms []Measurement, d *Device) []*Measurement {
	var out []*Measurement
	for i := range ms {
		if m := &ms[i]; m.Skipped == "" && len(m.Kernels) > 0 && d.Is(m.Device) {
			out = append(out, m)
		}
	}
	return out
}

// rows are the measurements that decide a group's parameters.
func (g Group) rows(ms []*Measurement) []*Measurement {
	var out []*Measurement
	for _, m := range ms {
		if g.decidedBy(m) {
			out = append(out, m)
		}
	}
	return out
}

// hostBound is how long Python takes to launch a training attention kernel in
// SimuMax's tables, whose shorter rows all lie between 90 and 120 us.
const hostBound = 125e-6

func (g Group) decidedBy(m *Measurement) bool {
	k := &m.Kernels[len(m.Kernels)-1]
	switch g {
	case GroupGEMM, GroupPower:
		return k.Kind == GEMM && k.Batch <= 1
	case GroupLayout:
		return k.Kind == GEMM && k.Batch <= 1 && k.Layout != TN
	case GroupForward:
		return k.Kind == Attention && !k.Backward && !m.Prefill && m.Seconds > hostBound
	case GroupBackward:
		return k.Kind == Attention && k.Backward && m.Seconds > hostBound
	}
	return k.Kind == Attention && m.Prefill
}

// pull is the weight of the squared logarithm of a parameter's change against
// the mean loss of the measurements: a parameter that nothing decides stays.
const pull = 2e-4

// fitGroup minimises the mean loss by the simplex method of Nelder and Mead on
// the logarithms of the parameters, restarted because it stalls.
func fitGroup(g Group, rows []*Measurement, d *Device) error {
	knobs := g.knobs(d)
	prior := make([]float64, len(knobs))
	for i, k := range knobs {
		prior[i] = math.Log(k.get())
	}
	objective := func(z []float64) float64 {
		far := 0.0
		for i, k := range knobs {
			k.set(math.Exp(z[i]))
			e := z[i] - prior[i]
			far += float64(e * e)
		}
		return meanLoss(rows, d) + float64(pull*far)
	}
	best := slices.Clone(prior)
	for _, size := range []float64{0.2, 0.1, 0.3, 0.05} {
		settings := &optimize.Settings{FuncEvaluations: 200 * (len(knobs) + 1)}
		method := &optimize.NelderMead{SimplexSize: size}
		result, err := optimize.Minimize(optimize.Problem{Func: objective}, best, settings, method)
		if result == nil {
			return err
		}
		best = result.X
	}
	objective(best) // leaves the best values in the device
	return nil
}

// softness is the relative error below which the loss is quadratic: beyond it
// outliers count by their size only.
const softness = 0.03

// meanLoss is the mean pseudo-Huber loss of the logarithms of predicted over measured.
func meanLoss(rows []*Measurement, d *Device) float64 {
	sum := 0.0
	for _, m := range rows {
		e := math.Log(m.Predict(d).Seconds()/m.Seconds) / softness
		sum += softness * (math.Sqrt(1+float64(e*e)) - 1)
	}
	return sum / float64(len(rows))
}
