package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"trainsim/scenarios"
	"trainsim/scenarios/measured"
	"trainsim/sim"
	"trainsim/sim/gpu"
	"trainsim/sim/report"
	"trainsim/sim/report/text"
)

// calibrateCommand is `trainsim calibrate`.
type calibrateCommand struct {
	*app
	gpu, cluster, out string
}

// newCalibrateCommand is `trainsim calibrate`.
func newCalibrateCommand(a *app) *cobra.Command {
	c := &calibrateCommand{app: a}
	cmd := &cobra.Command{
		Use:   "calibrate --gpu NAME | --cluster NAME FILE.csv...",
		Short: "Fit a preset to measurements of one's own",
		Long: `calibrate fits a device preset to measured kernels, or the links of a cluster
preset to measured collectives, prints the errors before and after, and writes
what differs as a preset file that stands on that preset, for scenarios and
"trainsim validate". The tables are those that validate reads. Rows of other GPUs
are left out, and collectives that the cluster cannot run; a table of one GPU
only is taken for the device whatever it calls it.`,
		Example: `  trainsim calibrate --gpu h100-sxm5-80gb kernels.csv --out my-h100.toml
  trainsim validate kernels.csv --gpu my-h100.toml
  trainsim calibrate --cluster dgx-h100 collectives.csv`,
		Args: cobra.MinimumNArgs(1),
		RunE: c.run,
	}
	f := cmd.Flags()
	f.StringVar(&c.gpu, "gpu", "", "fit the device preset `NAME` to measured kernels")
	f.StringVar(&c.cluster, "cluster", "", "fit the links of the cluster preset `NAME` to measured collectives")
	f.StringVarP(&c.out, "out", "o", "", "write the preset to `FILE` (default NAME-calibrated.toml)")
	return cmd
}

func (c *calibrateCommand) run(_ *cobra.Command, args []string) error {
	switch {
	case (c.gpu == "") == (c.cluster == ""):
		return usagef("calibrate fits one preset: write --gpu NAME or --cluster NAME")
	case sameFile(c.gpu+c.cluster, c.out):
		return usagef("%s cannot stand on itself: write another file with --out", c.out)
	case c.gpu != "":
		return c.device(args)
	}
	return c.links(args)
}

// sameFile reports whether a preset's name is the path of the file at another one.
func sameFile(name, path string) bool {
	a, err := os.Stat(name)
	if err != nil {
		return false
	}
	b, err := os.Stat(path)
	return err == nil && os.SameFile(a, b)
}

// file returns where the preset goes.
func (c *calibrateCommand) file(name string) string {
	if c.out != "" {
		return c.out
	}
	return strings.TrimSuffix(filepath.Base(name), ".toml") + "-calibrated.toml"
}

// open calls read with the content of each file.
func (c *calibrateCommand) open(paths []string, read func(text []byte, path string) error) error {
	for _, path := range paths {
		text, err := c.readFile(path)
		if err != nil {
			return badInput(fmt.Errorf("%s: %w", path, cause(err)))
		}
		if err := read(text, path); err != nil {
			return err
		}
	}
	return nil
}

// device fits a GPU to kernels.
func (c *calibrateCommand) device(paths []string) error {
	d, err := scenarios.LoadGPU(c.gpu)
	if err != nil {
		return badInput(err)
	}
	var all []gpu.Measurement
	err = c.open(paths, func(text []byte, path string) error {
		rows, err := gpu.ReadMeasurements(bytes.NewReader(text), filepath.Base(path))
		if err != nil {
			return badInput(err)
		}
		all = append(all, rows...)
		return nil
	})
	if err != nil {
		return err
	}
	takeFor(all, d)
	before := gpu.NewResiduals(ofDevice(all, d), d).String()
	fitted, after, err := gpu.Fit(all, *d)
	if err != nil {
		return badInput(err)
	}
	fmt.Fprintf(c.stdout, "%s before\n%s\nafter\n%s", d.Name, before, after)
	comment := fittedTo("gpu preset "+c.gpu, paths, after.String())
	return c.writePreset(c.gpu, func(w io.Writer) error { return scenarios.WriteGPU(w, c.gpu, &fitted, comment) })
}

// takeFor takes the rows of a table with a single GPU for the device.
func takeFor(ms []gpu.Measurement, d *gpu.Device) {
	for i := range ms {
		if d.Is(ms[i].Device) || ms[i].Device != ms[0].Device {
			return
		}
	}
	for i := range ms {
		ms[i].Device = d.Name
	}
}

// ofDevice are the rows of the device that can be predicted.
func ofDevice(ms []gpu.Measurement, d *gpu.Device) []*gpu.Measurement {
	var out []*gpu.Measurement
	for i := range ms {
		if m := &ms[i]; m.Skipped == "" && len(m.Kernels) > 0 && d.Is(m.Device) {
			out = append(out, m)
		}
	}
	return out
}

// links fits a cluster to collectives.
func (c *calibrateCommand) links(paths []string) error {
	var all []measured.Collective
	err := c.open(paths, func(text []byte, path string) error {
		rows, err := measured.ReadCollectives(text, path, c.cluster)
		all = append(all, rows...)
		return err
	})
	if err != nil {
		return err
	}
	fit, err := measured.FitCluster(c.cluster, all)
	if err != nil {
		return badInput(err)
	}
	if len(fit.LeftOut) > 0 {
		c.notef("fitted to %d of %d rows; left out: %s", len(fit.Rows), len(all), strings.Join(fit.LeftOut, ", "))
	}
	before, after := scored(fit.Rows, fit.Before), scored(fit.Rows, fit.After)
	fmt.Fprintf(c.stdout, "%s before\n%s\nafter\n%s", c.cluster, before, after)
	return c.writePreset(c.cluster, func(w io.Writer) error {
		return fit.Write(w, fittedTo("cluster preset "+c.cluster, paths, after))
	})
}

// scored is the table of errors by family.
func scored(rows []measured.Collective, times []sim.Time) string {
	var out []report.Scored
	for i := range rows {
		t := times[i].Seconds()
		out = append(out, report.Scored{ID: rows[i].ID, Family: rows[i].Family, Measured: &rows[i].Seconds, Predicted: &t})
	}
	return text.ScoreSummary(report.NewScore(out))
}

// fittedTo is the comment of a written preset: where it comes from and how
// well it fits.
func fittedTo(what string, paths []string, table string) []string {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = filepath.Base(p)
	}
	out := []string{fmt.Sprintf("The %s, fitted by trainsim calibrate to %s. Errors that remain:", what, strings.Join(names, ", "))}
	for line := range strings.Lines(table) {
		out = append(out, strings.TrimRight(line, " \n"))
	}
	return out
}

func (c *calibrateCommand) writePreset(name string, write func(io.Writer) error) error {
	path := c.file(name)
	if err := c.writeFile(path, write); err != nil {
		return err
	}
	c.notef("wrote %s", path)
	return nil
}
