package calibrate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"trainsim/interconnect"
	"trainsim/scenarios"
	"trainsim/scenarios/machines"
	"trainsim/scenarios/measured"
	"trainsim/sim"
	"trainsim/sim/gpu"
	"trainsim/sim/report"
	"trainsim/sim/report/text"
)

// errTooFewCollectives is returned where a table has too few rows of a cluster.
var errTooFewCollectives = errors.New("too few measurements to fit anything; write five or more")

// clusterFit is a cluster preset whose links are fitted to measured collectives.
type clusterFit struct {
	base    string              // the preset
	config  interconnect.Config // as fitted so far
	rows    []measured.Collective
	leftOut []string
	knobs   []linkKnob
}

// Cluster fits what the links of a cluster preset reach to measured collectives:
// the efficiency and latency of NVLink and of the network cards, and the
// bandwidths of PCIe, sockets and host memory, as far as the cluster has them and
// the rows depend on them. Rows of other GPUs, those that lack a figure and those
// that the cluster cannot run are left out; where all rows name the same GPU, it is
// taken for the cluster's. What they do not decide keeps its value, to which the
// rest is drawn weakly. The result depends on nothing but the arguments.
func Cluster(ctx context.Context, preset string, tables []Table) (*Fit, error) {
	var all []measured.Collective
	for _, t := range tables {
		rows, err := measured.ReadCollectives(t.Text, t.Name, preset)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	config, device, err := scenarios.LoadCluster(preset)
	if err != nil {
		return nil, err
	}
	f := &clusterFit{base: preset, config: *config, knobs: linkKnobs(config)}
	if f.choose(all, device); len(f.rows) < leastRows {
		if len(f.leftOut) > 0 {
			return nil, fmt.Errorf("%s: %w; left out of %d: %s", preset, errTooFewCollectives, len(all),
				strings.Join(f.leftOut, ", "))
		}
		return nil, fmt.Errorf("%s: %w", preset, errTooFewCollectives)
	}
	before, err := f.predict()
	if err == nil {
		err = f.minimise(ctx)
	}
	if err != nil {
		return nil, err
	}
	after, err := f.predict()
	if err != nil {
		return nil, err
	}
	out := &Fit{Name: preset, Before: f.errorsOf(before), After: f.errorsOf(after), Rows: len(all),
		Fitted: len(f.rows), LeftOut: f.leftOut}
	out.comment, out.write = fittedTo("cluster preset "+preset, tables, out.After), f.write
	return out, nil
}

// choose takes the rows that the cluster can be fitted to.
func (f *clusterFit) choose(rows []measured.Collective, device *gpu.Device) {
	var comms measured.Communicators
	all := sameGPU(rows)
	others, lacking, unable, first := 0, 0, 0, ""
	for _, r := range rows {
		if !all && !machines.Means(device, r.GPU) {
			others++
			continue
		}
		if r.Skipped != "" {
			lacking++
			continue
		}
		r.Cluster, r.Machine = f.base, &f.config
		if _, err := comms.Predict(&r); err != nil {
			if unable++; first == "" {
				first = r.ID + ": " + strings.ReplaceAll(err.Error(), "\n", "; ")
			}
			continue
		}
		f.rows = append(f.rows, r)
	}
	f.leave(others, "of other GPUs than "+device.Name)
	f.leave(lacking, "without a figure to fit to")
	f.leave(unable, "that the cluster cannot run ("+first+")")
}

// leave adds a reason for leaving out n rows.
func (f *clusterFit) leave(n int, why string) {
	if n > 0 {
		f.leftOut = append(f.leftOut, fmt.Sprintf("%d %s", n, why))
	}
}

// sameGPU reports whether all rows name one GPU.
func sameGPU(rows []measured.Collective) bool {
	other := func(r measured.Collective) bool { return !strings.EqualFold(r.GPU, rows[0].GPU) }
	return !slices.ContainsFunc(rows, other)
}

// predict returns the times of the rows on the cluster as it is.
func (f *clusterFit) predict() ([]sim.Time, error) {
	var comms measured.Communicators
	out := make([]sim.Time, len(f.rows))
	for i := range f.rows {
		t, err := comms.Predict(&f.rows[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.rows[i].ID, err)
		}
		out[i] = t
	}
	return out, nil
}

// errorsOf is the table of errors by the rows' families.
func (f *clusterFit) errorsOf(times []sim.Time) string {
	var out []report.Scored
	for i := range f.rows {
		t := times[i].Seconds()
		r := &f.rows[i]
		out = append(out, report.Scored{ID: r.ID, Family: r.Family, Measured: &r.Seconds, Predicted: &t})
	}
	return text.ScoreSummary(report.NewScore(out))
}

// loss is the mean pseudo-Huber loss of the logarithms of predicted over
// measured, and the pull towards the preset.
func (f *clusterFit) loss(z, prior []float64) float64 {
	sum := 0.0
	for i, k := range f.knobs {
		x := min(max(math.Exp(z[i]), k.lo), k.hi)
		*k.value(&f.config) = x
		e := z[i] - prior[i]
		sum += float64(pull * float64(e*e))
	}
	times, err := f.predict()
	if err != nil {
		return math.Inf(1)
	}
	for i, t := range times {
		sum += loss(t, f.rows[i].Seconds) / float64(len(times))
	}
	return sum
}

// minimise moves the figures to where the loss is least.
func (f *clusterFit) minimise(ctx context.Context) error {
	prior := make([]float64, len(f.knobs))
	for i, k := range f.knobs {
		prior[i] = math.Log(*k.value(&f.config))
	}
	err := minimise(ctx, prior, 100, []float64{0.2, 0.05}, func(z []float64) float64 { return f.loss(z, prior) })
	if err != nil {
		return fmt.Errorf("fitting the links of %s: %w", f.base, err)
	}
	return nil
}

// write writes the fitted cluster as a preset file that stands on its base: the
// comment's lines, then what was fitted.
func (f *clusterFit) write(w io.Writer, comment []string) error {
	if err := scenarios.WritePresetHead(w, f.base, comment); err != nil {
		return err
	}
	for _, k := range f.knobs {
		if _, err := fmt.Fprintf(w, "%s = %s\n", k.key, k.text(*k.value(&f.config))); err != nil {
			return err
		}
	}
	return nil
}
