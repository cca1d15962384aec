package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"trainsim/plots"
	"trainsim/sim/output"
	"trainsim/sim/report"
	"trainsim/sim/search"
	"trainsim/sim/search/journal"
)

// openJournal opens the journal of a search in its folder and says what is there
// from before.
func (a *app) openJournal(dir string, head *journal.Header, start journal.Start) (*journal.Journal, error) {
	j, err := journal.Open(dir, head, start)
	if err != nil {
		return nil, journalError(err)
	}
	if kept := j.Kept(); kept > 0 {
		a.notef("%s has %d results already", dir, kept)
	}
	if d := j.Damage(); d.Lines > 0 {
		a.warnf("%s: %v; what was there runs again", j.Path(), &d)
	}
	return j, nil
}

// journalError says what to do about a folder that cannot be used.
func journalError(err error) error {
	const elsewhere = "write elsewhere with --out, or start over with --fresh"
	var none *journal.NoJournal
	var conflict *journal.Conflict
	switch {
	case errors.Is(err, journal.ErrOther):
		return usagef("%w; "+elsewhere, err)
	case errors.As(err, &none):
		return badInput(fmt.Errorf("%w; "+elsewhere, err))
	case errors.As(err, &conflict):
		return badInput(fmt.Errorf("%w; delete the line that is wrong, "+elsewhere, err))
	case errors.Is(err, output.ErrInUse):
		return fmt.Errorf("%w; wait for it, or write elsewhere with --out", err)
	}
	return err
}

// writeSweep writes the results of a sweep as CSV and JSON.
func (a *app) writeSweep(dir string, doc *report.SweepDoc) error {
	table, document := filepath.Join(dir, "sweep.csv"), filepath.Join(dir, "sweep.json")
	err := a.writeFile(table, doc.WriteCSV)
	if err == nil {
		err = a.writeDocument(document, plots.OfSweep, doc.WriteJSON)
	}
	if err == nil {
		a.notef("wrote %s\nwrote %s", table, document)
	}
	return err
}

// startFlags say what becomes of earlier results.
type startFlags struct{ fresh, retry bool }

func (s *startFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&s.fresh, "fresh", false, "start over, whatever results are there")
	f.BoolVar(&s.retry, "retry-failed", false, "simulate again what failed before")
	cmd.MarkFlagsMutuallyExclusive("fresh", "retry-failed")
}

func (s *startFlags) start() journal.Start {
	switch {
	case s.fresh:
		return journal.Fresh
	case s.retry:
		return journal.Retry
	}
	return journal.GoOn
}

// shardFlag gives a command --shard.
func shardFlag(f *pflag.FlagSet, text *string) {
	f.StringVar(text, "shard", "", "run only part `I/N` of the points, I from 0 to N-1, into a folder of its own "+
		"(see merge); without it taken from a Slurm array job or an indexed Kubernetes job; 0/1 is all")
}

// Environment variables that say which shard a process is.
const (
	slurmTask  = "SLURM_ARRAY_TASK_ID"
	kubeIndex  = "JOB_COMPLETION_INDEX"
	shardCount = "TRAINSIM_SHARDS" // the number of shards, where the environment does not say
)

// findShard reads --shard or, without it, the environment; from names the
// variable that decided, "" for the flag.
func findShard(text string, env func(string) string) (s search.Shard, from string, err error) {
	switch {
	case text != "":
		if s, err = search.ParseShard(text); err != nil {
			return s, "", usagef("--shard %v", err)
		}
		return s, "", nil
	case env(slurmTask) != "":
		s, err = slurmShard(env)
		return s, slurmTask, err
	case env(kubeIndex) != "":
		s, err = countedShard(kubeIndex, env)
		return s, kubeIndex, err
	}
	return search.Shard{}, "", nil
}

// countedShard is a task that knows its index and is told the count.
func countedShard(variable string, env func(string) string) (search.Shard, error) {
	s, err := search.ParseShard(env(variable) + "/" + env(shardCount))
	if err != nil {
		return s, usagef("%s=%q needs %s, the number of tasks, above it (it is %q); set it, or write --shard I/N "+
			"(--shard 0/1 for all points)",
			variable, env(variable), shardCount, env(shardCount))
	}
	return s, nil
}

// slurmShard is a task of an array job. Its count is that of the array unless
// it is given, as it has to be where single tasks are submitted again.
func slurmShard(env func(string) string) (search.Shard, error) {
	if env(shardCount) != "" {
		return countedShard(slurmTask, env)
	}
	number := func(name string, missing int) int {
		if env(name) == "" {
			return missing
		}
		n, err := strconv.Atoi(env(name))
		if err != nil {
			return -1
		}
		return n
	}
	id, first := number(slurmTask, -1), number("SLURM_ARRAY_TASK_MIN", 0)
	last, step := number("SLURM_ARRAY_TASK_MAX", -1), number("SLURM_ARRAY_TASK_STEP", 1)
	var s search.Shard
	if id < 0 || first < 0 || last < id || step < 1 || id < first || (id-first)%step != 0 {
		return s, usagef("the array job's %s=%q is not in a range that its other variables tell; write --shard I/N",
			slurmTask, env(slurmTask))
	}
	s = search.Shard{Index: (id - first) / step, Of: (last-first)/step + 1}
	if n := number("SLURM_ARRAY_TASK_COUNT", s.Of); n != s.Of {
		return s, usagef("the array job has %d tasks from %d to %d, so that some are missing; submit a range such "+
			"as 0-6, or set %s to the number of shards",
			n, first, last, shardCount)
	}
	return s, nil
}

// environmentShard is findShard with the process's environment; it says on
// stderr when the environment decided.
func (a *app) environmentShard(text string) (search.Shard, error) {
	s, from, err := findShard(text, os.Getenv)
	if err == nil && from != "" {
		a.notef("shard %v, from %s", s, from)
	}
	return s, err
}
