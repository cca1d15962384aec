package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"trainsim/plots"
	"trainsim/plots/chart"
	"trainsim/sim/output"
)

// figureFlags say how the figures of a command look.
type figureFlags struct {
	formats []string
	size    string
	title   string
	none    bool
}

// register adds --format, --size and --title.
func (o *figureFlags) register(f *pflag.FlagSet) {
	f.StringSliceVar(&o.formats, "format", []string{"png"},
		"write figures as `FORMATS`, one or more of "+strings.Join(chart.Formats, ","))
	f.StringVar(&o.size, "size", "1600x900", "`WIDTHxHEIGHT` of figures in pixels of 1/96 inch")
	f.StringVar(&o.title, "title", "", "`TEXT` in the titles of figures in place of the scenario's name")
}

// registerAll adds --no-plots to those.
func (o *figureFlags) registerAll(f *pflag.FlagSet) {
	o.register(f)
	f.BoolVar(&o.none, "no-plots", false, "draw no figures")
}

// options checks the flags and returns them for package plots, one a format;
// none with --no-plots.
func (o *figureFlags) options() ([]chart.Options, error) {
	base := chart.Options{Title: o.title}
	width, height, ok := strings.Cut(o.size, "x")
	var err1, err2 error
	base.Width, err1 = strconv.ParseFloat(width, 64)
	base.Height, err2 = strconv.ParseFloat(height, 64)
	if !ok || err1 != nil || err2 != nil {
		return nil, usagef("--size %q: write WIDTHxHEIGHT, as in 1600x900", o.size)
	}
	var out []chart.Options
	for _, format := range o.formats {
		if err := checkFormat(format); err != nil {
			return nil, err
		}
		base.Format = format
		if err := base.Check(); err != nil {
			return nil, usagef("--size %s: %s", o.size, strings.TrimPrefix(err.Error(), "plots: "))
		}
		if !slices.Contains(out, base) {
			out = append(out, base)
		}
	}
	if o.none {
		return nil, nil
	}
	if len(out) == 0 {
		return nil, usagef("--format names no format; write %s", strings.Join(chart.Formats, ", "))
	}
	return out, nil
}

// replacedNote is what the help of --out says of writeDocument.
const replacedNote = "; figures there that are of other results are removed"

// writeDocument writes the file that says what the figures beside it are of. Where
// trainsim wrote another one there before, its figures go first, and the files that
// go with it by name, so that a folder does not mix two.
func (a *app) writeDocument(path string, of plots.Document, write func(io.Writer) error, beside ...string) error {
	if isDocument(path) && !output.Same(path, write) {
		for _, e := range plots.Registry(of) {
			for _, format := range chart.Formats {
				beside = append(beside, e.Name+"."+format)
			}
		}
		if err := a.removeFiles(filepath.Dir(path), beside); err != nil {
			return err
		}
	}
	return a.writeFile(path, write)
}

// removeFiles removes the files of a folder whose names match a pattern.
func (a *app) removeFiles(dir string, patterns []string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		matches := func(pattern string) bool { ok, _ := filepath.Match(pattern, e.Name()); return ok }
		if !e.Type().IsRegular() || !slices.ContainsFunc(patterns, matches) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
		a.notef("removed %s, which is of other results", filepath.Join(dir, e.Name()))
	}
	return nil
}

// isDocument reports whether a file is a document of trainsim: it names its schema
// in the beginning.
func isDocument(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	start, err := io.ReadAll(io.LimitReader(f, 200))
	return err == nil && bytes.Contains(start, []byte(`"trainsim.`))
}

// drawAll writes the figures of a document to dir, each in every format. One
// without data is left out with a note.
func (a *app) drawAll(dir string, options []chart.Options, of plots.Document, data *plots.Data) error {
	for _, e := range plots.Registry(of) {
		for _, o := range options {
			fig, err := e.Draw(data, o)
			if err != nil {
				a.notef("no figure: %s", strings.TrimPrefix(err.Error(), "plots: "))
				break
			}
			name := filepath.Join(dir, e.Name+"."+o.Format)
			if err := fig.Save(name); err != nil {
				return err
			}
			a.notef("wrote %s", name)
		}
	}
	return nil
}
