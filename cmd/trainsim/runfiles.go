package main

import (
	"compress/gzip"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"trainsim/memory/snapshot"
	"trainsim/plots"
	"trainsim/plots/chart"
	"trainsim/scenarios"
	"trainsim/sim/account"
	"trainsim/sim/job"
	"trainsim/sim/report"
	"trainsim/sim/report/text"
	"trainsim/sim/step"
	"trainsim/sim/trace"
)

// write writes the files of a run.
func (r *runCommand) write(cfg *job.Config, run *report.Run, res *step.Result, several bool) error {
	dir := r.out
	switch {
	case dir == "":
		dir = filepath.Join("trainsim-out", fileName(cfg.Name))
	case several:
		dir = filepath.Join(dir, fileName(cfg.Name))
	}
	if r.trace != "" {
		if err := r.writeTrace(run.Recording); err != nil {
			return err
		}
	}
	if r.snapshot != "" {
		if err := r.writeSnapshot(res.Job, res.Memory); err != nil {
			return err
		}
	}
	if err := r.writeDocument(filepath.Join(dir, "run.json"), plots.OfRun, run.Write); err != nil {
		return err
	}
	err := r.writeFile(filepath.Join(dir, "report.json"), asJSON(run.Report))
	if err != nil {
		return err
	}
	for _, o := range r.options {
		if err := r.draw(dir, run, o); err != nil {
			return err
		}
	}
	return r.writeReview(cfg, run, several)
}

// writeTrace writes the Chrome trace.
func (r *runCommand) writeTrace(rec *trace.Recording) error {
	return r.writeFile(r.trace, func(w io.Writer) error {
		if !strings.HasSuffix(r.trace, ".gz") {
			return trace.WriteChrome(w, rec)
		}
		z := gzip.NewWriter(w)
		if err := trace.WriteChrome(z, rec); err != nil {
			return err
		}
		return z.Close()
	})
}

// writeSnapshot writes what the fullest stage's first rank allocated, step by
// step, in the form of torch.cuda.memory._dump_snapshot.
func (r *runCommand) writeSnapshot(j *job.Job, accounts []account.RankMemory) error {
	s, err := account.Snapshot(j, accounts[account.Fullest(accounts)].Stage, true)
	if err != nil {
		return err
	}
	return r.writeFile(r.snapshot, func(w io.Writer) error { return snapshot.WritePickle(w, s) })
}

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
	if err := r.writeDocument(filepath.Join(dir, "report.json"), plots.OfRun, asJSON(run.Report)); err != nil {
		return err
	}
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
