package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"trainsim/sim/job"
	"trainsim/sim/report"
)

// campaign is a set of points that are simulated in parallel, with their
// results kept in a folder such that a crash loses at most the points in work.
type campaign struct {
	*app
	head  *report.JournalHeader
	part  shard
	dir   string
	fresh bool
	jobs  int

	point    func(int) *scenarioPoint                    // resolves one
	simulate func(context.Context, *scenarioPoint) error // fills its row
}

// scenarioPoint is a point on its way through a campaign. Without a
// configuration its settings are invalid and its row is complete.
type scenarioPoint struct {
	cfg *job.Config
	row report.SweepRow
}

// run simulates what is missing, then writes the results in the order of the
// points and hands them to finish.
func (c *campaign) run(ctx context.Context, finish func(*report.SweepDoc) error) error {
	j, done, err := c.open()
	if err != nil {
		return err
	}
	defer done()
	if err := c.fill(ctx, j); err != nil {
		return err
	}
	doc := &report.SweepDoc{Version: version, Scenario: c.head.Scenario, Axes: c.head.Axes, Rows: j.rows(c.part.index, c.part.of)}
	if err := c.writeDoc(doc); err != nil {
		return err
	}
	if err := j.rewrite(c.part.index, c.part.of); err != nil {
		return err
	}
	return finish(doc)
}

// open locks the folder and opens its journal; done closes and unlocks.
func (c *campaign) open() (j *journal, done func(), err error) {
	if err := os.MkdirAll(c.dir, 0o777); err != nil {
		return nil, nil, writeError(c.dir, err)
	}
	unlock, err := lockFolder(c.dir)
	if err != nil {
		return nil, nil, err
	}
	removeTorn(c.dir)
	if j, err = c.openJournal(c.dir, c.head, c.fresh); err != nil {
		unlock()
		if errors.Is(err, errOtherSweep) {
			err = usagef("%v", err)
		}
		return nil, nil, err
	}
	if kept := j.kept(); kept > 0 {
		c.notef("%s has %d results already", c.dir, kept)
	}
	if j.bad > 0 {
		c.warnf("%s: %d lines are damaged; what they held runs again", j.path, j.bad)
	}
	return j, func() { j.close(); unlock() }, nil
}

// removeTorn removes what a crash has left of files that were being written.
// The folder is locked, so that nobody else is writing them.
func removeTorn(dir string) {
	for _, pattern := range []string{".*.tmp", ".trainsim-*"} {
		names, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, name := range names {
			os.Remove(name)
		}
	}
}

// fill runs the points of the shard that the journal does not have.
func (c *campaign) fill(ctx context.Context, j *journal) error {
	n, kept := c.part.count(c.head.Points), j.kept()
	bar := c.progress(max(n-kept, 0), "simulating")
	err := inParallel(ctx, c.jobs, n, func(i int) error {
		p := c.point(c.part.index + i*c.part.of)
		if j.has(p.row.Point, p.row.ID) {
			return nil
		}
		if err := c.simulate(ctx, p); err != nil {
			return err
		}
		bar.Add(1) //nolint:errcheck // a bar that cannot be drawn hinders nobody
		return j.add(&p.row)
	})
	bar.Finish() //nolint:errcheck // as above
	if e := j.finish(); err == nil {
		err = e
	}
	if ctx.Err() != nil {
		c.notef("%d of %d results are in %s; the same command goes on from there", j.kept(), n, j.path)
	}
	return err
}

// writeDoc writes the results whole or not at all.
func (c *campaign) writeDoc(doc *report.SweepDoc) error {
	name := filepath.Join(c.dir, c.head.Command)
	for _, f := range []struct {
		ending string
		write  func(io.Writer) error
	}{{".csv", doc.WriteCSV}, {".json", doc.WriteJSON}} {
		if err := c.writeFile(name+f.ending, f.write); err != nil {
			return err
		}
		c.notef("wrote %s%s", name, f.ending)
	}
	return nil
}
