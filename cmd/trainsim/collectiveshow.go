package main

import (
	"fmt"
	"strings"

	"trainsim/interconnect/bench"
	"trainsim/plots"
	"trainsim/plots/chart"
	"trainsim/sim"
)

// printTable prints what nccl-tests would print, with what NCCL chose and what
// limits it.
func (c *collectiveCommand) printTable(t *bench.Table) error {
	w := c.stdout
	fmt.Fprintf(w, "# %s on %s: %d ranks, %d nodes", t.Collective, t.Cluster, t.Ranks, t.Nodes)
	if len(t.With) > 0 {
		fmt.Fprintf(w, ", beside %s", strings.Join(t.With, " and "))
	}
	fmt.Fprintf(w, "\n# NCCL's buffers: %s a GPU\n#\n", sim.Bytes(t.Memory))
	slower := len(t.With) > 0
	fmt.Fprintf(w,
		"# %11s  %10s  %8s  %8s  %-12s  %-8s  %4s  ", "size", "time", "algbw", "busbw", "algorithm", "protocol", "ch")
	if slower {
		fmt.Fprintf(w, "%7s  ", "slower")
	}
	fmt.Fprintf(w, "limited by\n# %11s  %10s  %8s  %8s\n", "(B)", "(us)", "(GB/s)", "(GB/s)")
	var sum float64
	for i := range t.Rows {
		r := &t.Rows[i]
		fmt.Fprintf(w,
			"%13d  %10s  %8.2f  %8.2f  %-12s  %-8s  %4d  ",
			r.Bytes, micros(r.Time), r.AlgBW/1e9, r.BusBW/1e9, r.Algorithm, r.Protocol, r.Channels)
		if slower {
			fmt.Fprintf(w, "%6.2fx  ", r.Seconds/max(*r.Alone, 1e-12))
		}
		fmt.Fprintln(w, limited(r))
		sum += r.BusBW
	}
	_, err := fmt.Fprintf(w, "# average bus bandwidth: %.2f GB/s\n", sum/float64(max(len(t.Rows), 1))/1e9)
	return err
}

// limited says in words what limits a row.
func limited(r *bench.Row) string {
	switch {
	case r.Bottleneck == "":
		return "nothing"
	case r.LimitedBy == "latency":
		return "latency"
	case r.LimitedBy == "kernels":
		return "NCCL's kernels on " + r.Bottleneck
	}
	return r.Bottleneck
}

// micros writes a time in microseconds with nccl-tests' precision.
func micros(t sim.Time) string {
	us := t.Microseconds()
	switch {
	case us < 1000:
		return fmt.Sprintf("%.2f", us)
	case us < 100000:
		return fmt.Sprintf("%.1f", us)
	}
	return fmt.Sprintf("%.0f", us)
}

// draw writes the figure.
func (c *collectiveCommand) draw(t *bench.Table) error {
	curve := plots.Curve{Name: fmt.Sprintf("%s over %d GPUs", t.Collective, t.Ranks)}
	for _, r := range t.Rows {
		curve.Size = append(curve.Size, float64(r.Bytes))
		curve.BusBW = append(curve.BusBW, r.BusBW)
	}
	title := fmt.Sprintf("%s: %s over %d GPUs", t.Cluster, t.Collective, t.Ranks)
	if len(t.With) > 0 {
		title += ", with " + strings.Join(t.With, " and ")
	}
	fig, err := plots.BusBW([]plots.Curve{curve}, chart.Options{Title: title})
	if err != nil {
		return err
	}
	if err := fig.Save(c.plot); err != nil {
		return err
	}
	c.notef("wrote %s", c.plot)
	return nil
}
