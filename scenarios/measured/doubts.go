package measured

import (
	"context"
	"fmt"
	"math"

	"trainsim/sim/job"
	"trainsim/sim/model"
	"trainsim/sim/report"
)

// Measured memory tells which settings a job had: it depends on few of them, and
// on those by much. Where a family of runs contradicts its own columns and agrees
// with others, validate says so; its predictions stay those of the columns.
const (
	doubtFrom  = 0.15 // mean error of memory from which a family is looked into
	doubtBelow = 0.05 // and below which other columns explain it
	doubtRows  = 3    // fewer rows prove nothing
	// doubtSample is how many rows of a family a reading is tried on first.
	doubtSample = 8
)

// reading is another way to read the columns of a run.
type reading struct {
	text  string
	apply func(*job.Config)
}

// readings lists the other values of the columns that decide what a layer keeps.
var readings = []reading{
	{"dropout = 1", func(c *job.Config) { c.Training.Dropout = true }},
	{"dropout = 0", func(c *job.Config) { c.Training.Dropout = false }},
	{"attention = unfused", func(c *job.Config) { c.Model.Attention = model.Unfused }},
	{"attention = unfused, dropout = 1",
		func(c *job.Config) { c.Model.Attention, c.Training.Dropout = model.Unfused, true }},
	{"attention = flash", func(c *job.Config) { c.Model.Attention = model.Flash }},
	{"attention = flash, dropout = 0",
		func(c *job.Config) { c.Model.Attention, c.Training.Dropout = model.Flash, false }},
	{"recompute = none", func(c *job.Config) { c.Training.Recompute = "none" }},
	{"recompute = selective", func(c *job.Config) { c.Training.Recompute = "selective" }},
	{"recompute = full", func(c *job.Config) { c.Training.Recompute = "full" }},
}

// doubts names the families whose measured memory fits other columns.
func doubts(ctx context.Context, all []Row, score *report.Score, each Each) ([]string, error) {
	var out []string
	for i := range score.Families {
		f := &score.Families[i]
		if f.MemoryN < doubtRows || f.MemoryMAPE < doubtFrom {
			continue
		}
		var rows []*Row
		for k := range all {
			if r := &all[k]; r.config != nil && r.Family == f.Family && r.MeasuredBytes != nil {
				rows = append(rows, r)
			}
		}
		text, err := doubt(ctx, rows, f.MemoryMAPE, each)
		if err != nil {
			return nil, err
		}
		if text != "" {
			out = append(out, f.Family+": "+text)
		}
	}
	return out, nil
}

// doubt finds the reading of a family's columns that its memory fits best; ""
// where none fits well.
func doubt(ctx context.Context, rows []*Row, given float64, each Each) (string, error) {
	best, least := "", doubtBelow
	few := everyNth(rows, 1+len(rows)/doubtSample)
	for _, r := range readings {
		mean, err := memoryError(ctx, few, r, each)
		if err == nil && mean < 2*doubtBelow { // worth all rows
			mean, err = memoryError(ctx, rows, r, each)
		}
		if err != nil {
			return "", err
		}
		if mean < least {
			best, least = r.text, mean
		}
	}
	if best == "" {
		return "", nil
	}
	return fmt.Sprintf("measured memory is %.0f %% off, and %.1f %% with %s; are the columns right?", 100*given,
		100*least, best), nil
}

// memoryError is the mean error of the rows' memory under a reading; jobs that
// cannot be count as missed by all of it.
func memoryError(ctx context.Context, rows []*Row, r reading, each Each) (float64, error) {
	errors := make([]float64, len(rows))
	err := each.call(ctx, len(rows), func(i int) error {
		c := *rows[i].config
		r.apply(&c)
		errors[i] = 1
		if ranks, err := accountOf(ctx, &c); err == nil {
			s := rows[i].Scored
			s.PredictPeak(ranks)
			errors[i] = math.Abs(float64(*s.PredictedBytes)/float64(*s.MeasuredBytes) - 1)
		}
		return ctx.Err()
	})
	sum := 0.0
	for _, e := range errors {
		sum += e
	}
	return sum / float64(max(len(rows), 1)), err
}

// everyNth returns every n-th row.
func everyNth(rows []*Row, n int) []*Row {
	var out []*Row
	for i := 0; i < len(rows); i += n {
		out = append(out, rows[i])
	}
	return out
}
