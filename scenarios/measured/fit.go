package measured

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/optimize"

	"trainsim/interconnect"
	"trainsim/scenarios"
	"trainsim/sim"
	"trainsim/sim/gpu"
)

// ErrNothingToFit is returned where a table has too few rows of a cluster.
var ErrNothingToFit = errors.New("too few measurements to fit anything; write five or more")

// leastRows is the smallest number of measurements that links are fitted to.
const leastRows = 5

// ClusterFit is a cluster preset whose links were fitted to measured
// collectives.
type ClusterFit struct {
	// Base is the preset that it stands on.
	Base string
	// Config is the fitted cluster.
	Config interconnect.Config
	// Rows are the measurements that it was fitted to, with Cluster set to
	// Base; Before and After are their predicted times.
	Rows          []Collective
	Before, After []sim.Time
	// LeftOut says how many measurements it was not fitted to, and why, one
	// reason each.
	LeftOut []string

	knobs []linkKnob
}

// FitCluster fits what the links of a cluster preset reach to the measured
// collectives: the efficiency and latency of NVLink and of the network cards,
// and the bandwidths of PCIe, sockets and host memory, as far as the cluster
// has them and the rows depend on them. Rows of other GPUs, those that lack a
// figure and those that the cluster cannot run are left out; where all rows name
// the same GPU, it is taken for the cluster's. What they do not decide keeps its
// value, to which the rest is drawn weakly. The result depends on nothing but
// the arguments.
func FitCluster(base string, rows []Collective) (*ClusterFit, error) {
	config, device, err := scenarios.LoadCluster(base)
	if err != nil {
		return nil, err
	}
	f := &ClusterFit{Base: base, Config: *config, knobs: linkKnobs(config)}
	f.choose(rows, device)
	if len(f.Rows) < leastRows {
		if len(f.LeftOut) > 0 {
			return nil, fmt.Errorf("%s: %w; left out of %d: %s", base, ErrNothingToFit, len(rows), strings.Join(f.LeftOut, ", "))
		}
		return nil, fmt.Errorf("%s: %w", base, ErrNothingToFit)
	}
	if f.Before, err = f.predict(); err != nil {
		return nil, err
	}
	if err := f.minimise(); err != nil {
		return nil, err
	}
	f.After, err = f.predict()
	return f, err
}

// choose takes the rows that the cluster can be fitted to.
func (f *ClusterFit) choose(rows []Collective, device *gpu.Device) {
	comms := Communicators{configs: map[string]*interconnect.Config{f.Base: &f.Config}}
	all := sameGPU(rows)
	others, lacking, unable, first := 0, 0, 0, ""
	for _, r := range rows {
		if !all && !scenarios.Means(device, r.GPU) {
			others++
			continue
		}
		if r.Skipped != "" {
			lacking++
			continue
		}
		r.Cluster, r.Machine = f.Base, nil
		if _, err := comms.Predict(&r); err != nil {
			if unable++; first == "" {
				first = r.ID + ": " + strings.ReplaceAll(err.Error(), "\n", "; ")
			}
			continue
		}
		f.Rows = append(f.Rows, r)
	}
	f.leave(others, "of other GPUs than "+device.Name)
	f.leave(lacking, "without a figure to fit to")
	f.leave(unable, "that the cluster cannot run ("+first+")")
}

// leave adds a reason for leaving out n rows.
func (f *ClusterFit) leave(n int, why string) {
	if n > 0 {
		f.LeftOut = append(f.LeftOut, fmt.Sprintf("%d %s", n, why))
	}
}

// sameGPU reports whether all rows name one GPU.
func sameGPU(rows []Collective) bool {
	return !slices.ContainsFunc(rows, func(r Collective) bool { return !strings.EqualFold(r.GPU, rows[0].GPU) })
}

// predict returns the times of the rows on the cluster as it is.
func (f *ClusterFit) predict() ([]sim.Time, error) {
	comms := Communicators{configs: map[string]*interconnect.Config{f.Base: &f.Config}}
	out := make([]sim.Time, len(f.Rows))
	for i := range f.Rows {
		t, err := comms.Predict(&f.Rows[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Rows[i].ID, err)
		}
		out[i] = t
	}
	return out, nil
}

const (
	linkPull     = 2e-4 // weight of the squared logarithm of a figure's change
	linkSoftness = 0.03 // relative error below which the loss is quadratic
)

// loss is the mean pseudo-Huber loss of the logarithms of predicted over
// measured, and the pull towards the preset.
func (f *ClusterFit) loss(z, prior []float64) float64 {
	sum := 0.0
	for i, k := range f.knobs {
		x := min(max(math.Exp(z[i]), k.lo), k.hi)
		*k.value(&f.Config) = x
		e := z[i] - prior[i]
		sum += float64(linkPull * float64(e*e))
	}
	times, err := f.predict()
	if err != nil {
		return math.Inf(1)
	}
	for i, t := range times {
		e := math.Log(t.Seconds()/f.Rows[i].Seconds) / linkSoftness
		sum += linkSoftness * (math.Sqrt(1+float64(e*e)) - 1) / float64(len(times))
	}
	return sum
}

// minimise runs the simplex method of Nelder and Mead on the logarithms.
func (f *ClusterFit) minimise() error {
	prior := make([]float64, len(f.knobs))
	for i, k := range f.knobs {
		prior[i] = math.Log(*k.value(&f.Config))
	}
	best := slices.Clone(prior)
	problem := optimize.Problem{Func: func(z []float64) float64 { return f.loss(z, prior) }}
	for _, size := range []float64{0.2, 0.05} {
		settings := &optimize.Settings{FuncEvaluations: 100 * (len(f.knobs) + 1)}
		result, err := optimize.Minimize(problem, best, settings, &optimize.NelderMead{SimplexSize: size})
		if result == nil {
			return fmt.Errorf("fitting the links of %s: %w", f.Base, err)
		}
		best = result.X
	}
	f.loss(best, prior) // leaves the best values in the Config
	return nil
}

// Write writes the fitted cluster as a preset file that stands on its base:
// the comment's lines, then what was fitted.
func (f *ClusterFit) Write(w io.Writer, comment []string) error {
	if err := scenarios.WritePresetHead(w, f.Base, comment); err != nil {
		return err
	}
	for _, k := range f.knobs {
		if _, err := fmt.Fprintf(w, "%s = %s\n", k.key, k.text(*k.value(&f.Config))); err != nil {
			return err
		}
	}
	return nil
}
