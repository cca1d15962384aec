package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"trainsim/sim/output"
	"trainsim/sim/report"
	"trainsim/sim/search/journal"
)

// openJournal opens the journal of a search in its folder and says what is there
// from before.
func (a *app) openJournal(dir string, head *journal.Header, fresh bool) (*journal.Journal, error) {
	j, err := journal.Open(dir, head, fresh)
	if err != nil {
		return nil, journalError(err)
	}
	if kept := j.Kept(); kept > 0 {
		a.notef("%s has %d results already", dir, kept)
	}
	if bad := j.Damaged(); bad > 0 {
		a.warnf("%s: %d lines are damaged; what they held runs again", j.Path(), bad)
	}
	return j, nil
}

// journalError says what to do about a folder that cannot be used.
func journalError(err error) error {
	const elsewhere = "write elsewhere with --out, or start over with --fresh"
	var none *journal.NoJournal
	switch {
	case errors.Is(err, journal.ErrOther):
		return usagef("%w; "+elsewhere, err)
	case errors.As(err, &none):
		return fmt.Errorf("%w; "+elsewhere, err)
	case errors.Is(err, output.ErrInUse):
		return fmt.Errorf("%w; wait for it, or write elsewhere with --out", err)
	}
	return err
}

// writeSweep writes the results of a sweep as CSV and JSON.
func (a *app) writeSweep(dir string, doc *report.SweepDoc) error {
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{{"sweep.csv", doc.WriteCSV}, {"sweep.json", doc.WriteJSON}} {
		path := filepath.Join(dir, f.name)
		if err := a.writeFile(path, f.write); err != nil {
			return err
		}
		a.notef("wrote %s", path)
	}
	return nil
}
