package main

import (
	"io"
	"path/filepath"
	"slices"

	"trainsim/plots"
	"trainsim/plots/chart"
	"trainsim/scenarios"
	"trainsim/sim/job"
	"trainsim/sim/report"
	"trainsim/sim/report/text"
)

// writeReview writes the folder of --report: README.md, the figures and the
// resolved scenario, ready to attach to a design review.
func (r *runCommand) writeReview(cfg *job.Config, run *report.Run, several bool) error {
	if r.review == "" {
		return nil
	}
	dir := r.review
	if several {
		dir = filepath.Join(dir, fileName(cfg.Name))
	}
	var files []string
	for _, o := range r.options {
		paths, err := plots.WriteRun(dir, run, o)
		if err != nil {
			return err
		}
		for _, path := range paths {
			files = append(files, filepath.Base(path))
		}
	}
	o := text.MarkdownOptions{
		Options:     text.Options{Title: cfg.Name, Headline: headline(cfg)},
		Description: cfg.Description, Figures: reviewFigures(files), Scenario: "scenario.toml", Report: "report.json",
	}
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{o.Scenario, func(w io.Writer) error { return scenarios.Write(w, cfg) }},
		{o.Report, func(w io.Writer) error { return encodeJSON(w, run.Report) }},
		{"README.md", func(w io.Writer) error { return text.Markdown(w, run.Report, o) }},
	} {
		if err := r.writeFile(filepath.Join(dir, f.name), f.write); err != nil {
			return err
		}
	}
	r.notef("wrote %s", filepath.Join(dir, "README.md"))
	return nil
}

// reviewFigures finds the files of each figure. What a page can show comes
// first: PNG and SVG before PDF.
func reviewFigures(files []string) []text.MarkdownFigure {
	var out []text.MarkdownFigure
	for _, e := range plots.Registry(plots.OfRun) {
		var names []string
		for _, format := range chart.Formats {
			if name := e.Name + "." + format; slices.Contains(files, name) {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			out = append(out, text.MarkdownFigure{File: names[0], Caption: e.Caption, Also: names[1:]})
		}
	}
	return out
}
