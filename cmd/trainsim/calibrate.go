package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"trainsim/scenarios/calibrate"
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

func (c *calibrateCommand) run(cmd *cobra.Command, args []string) error {
	switch {
	case (c.gpu == "") == (c.cluster == ""):
		return usagef("calibrate fits one preset: write --gpu NAME or --cluster NAME")
	case sameFile(c.gpu+c.cluster, c.out):
		return usagef("%s cannot stand on itself: write another file with --out", c.out)
	}
	tables, err := c.read(args)
	if err != nil {
		return err
	}
	preset, fitTo := c.gpu, calibrate.GPU
	if c.cluster != "" {
		preset, fitTo = c.cluster, calibrate.Cluster
	}
	fit, err := fitTo(cmd.Context(), preset, tables)
	if err != nil {
		return badInput(err)
	}
	if len(fit.LeftOut) > 0 {
		c.notef("fitted to %d of %d rows; left out: %s", fit.Fitted, fit.Rows, strings.Join(fit.LeftOut, ", "))
	}
	fmt.Fprintf(c.stdout, "%s before\n%s\nafter\n%s", fit.Name, fit.Before, fit.After)
	path := c.file(preset)
	if err := c.writeFile(path, fit.Write); err != nil {
		return err
	}
	c.notef("wrote %s", path)
	return nil
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

// read reads the tables.
func (c *calibrateCommand) read(paths []string) ([]calibrate.Table, error) {
	var out []calibrate.Table
	for _, path := range paths {
		text, err := c.readFile(path)
		if err != nil {
			return nil, unreadable(path, err)
		}
		out = append(out, calibrate.Table{Name: path, Text: text})
	}
	return out, nil
}
