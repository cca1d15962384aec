package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"trainsim/plots/chart"
	"trainsim/sim/report"
	"trainsim/sim/search"
	"trainsim/sim/search/journal"
)

// mergeCommand is `trainsim merge` with its flags.
type mergeCommand struct {
	*app
	figures figureFlags
	out     string
}

// newMergeCommand is `trainsim merge`.
func newMergeCommand(a *app) *cobra.Command {
	m := &mergeCommand{app: a}
	cmd := &cobra.Command{
		Use:   "merge DIR...",
		Short: "Join the shards of a sweep or plan",
		Long: `merge joins the folders of a sweep's or plan's shards (see --shard) into what one
process would have written: the same files, byte for byte. DIR is the folder of a
shard, or one that holds the folders of shards, which then also takes the results
unless --out names another. Shards of different sweeps are refused, as are two
different results of one point. What is missing is reported; the results that are
there are put into --out then, where the same command without --shard runs the
rest.`,
		Example: `  trainsim merge out
  trainsim merge node1/shard-0-of-2 node2/shard-1-of-2 --out out`,
		Args: cobra.MinimumNArgs(1),
		RunE: m.run,
	}
	f := cmd.Flags()
	f.StringVarP(&m.out, "out", "o", "", "write the joined results to `DIR` (default: the one that holds all shards)")
	a.jsonFlag(cmd)
	m.figures.registerAll(f)
	return cmd
}

func (m *mergeCommand) run(cmd *cobra.Command, args []string) error {
	options, err := m.figures.options()
	if err != nil {
		return err
	}
	dirs := journal.FindShards(args)
	if m.out == "" && len(args) == 1 && dirs[0] != args[0] {
		m.out = args[0]
	}
	if m.out == "" {
		return usagef("--out is needed for the folders of single shards: write where the joined results go")
	}
	shards, err := journal.OpenShards(dirs)
	if err != nil {
		return err
	}
	defer shards.Close()
	head := shards.Header()
	j, err := m.openJournal(m.out, head, journal.GoOn)
	if err != nil {
		return err
	}
	defer j.Close()
	if err := m.join(j, shards); err != nil {
		return err
	}
	if missing := shards.Missing(j, isPlanned); len(missing) > 0 {
		return gaps(missing, head.Command, m.out)
	}
	if head.Command == "plan" {
		return m.finishPlan(j, head, shards, options)
	}
	doc := &report.SweepDoc{Scenario: head.Scenario, Axes: head.Axes, Rows: j.Rows()}
	if err := m.writeSweep(m.out, doc); err != nil {
		return err
	}
	s := &sweepCommand{app: m.app}
	return s.finish(doc, m.out, search.Shard{}, options)
}

// join puts the rows of all shards into the journal of the whole.
func (m *mergeCommand) join(j *journal.Journal, shards *journal.Shards) error {
	warnings, err := shards.Join(j)
	for _, text := range warnings {
		m.warnf("%s", text)
	}
	var conflict *journal.Conflict
	if errors.As(err, &conflict) {
		err = badInput(fmt.Errorf("%w; leave out the folder that is wrong or run it again with --fresh, or write "+
			"elsewhere with --out", err))
	}
	if e := j.Finish(); err == nil {
		err = e
	}
	if err == nil {
		err = j.Sort()
	}
	return err
}

// isPlanned reports whether a folder holds a finished plan.
func isPlanned(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "plan.json"))
	return err == nil
}

// gaps is the error of shards or points that are missing.
func gaps(missing []string, command, out string) error {
	shown := missing[:min(len(missing), 10)]
	more := ""
	if n := len(missing) - len(shown); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Errorf("missing: %s%s; what there is stands in %s: run the same %s with --out %s and --shard 0/1 for "+
		"the rest, or the missing shards and merge again",
		strings.Join(shown, ", "), more, out, command, out)
}

// finishPlan makes the plan of all rows. The scenario of a fastest layout is
// the one that its shard has written.
func (m *mergeCommand) finishPlan(j *journal.Journal, head *journal.Header, shards *journal.Shards,
	options []chart.Options) error {
	ranking := search.NewRanking(head.Top)
	for row, err := range j.Found() {
		if err != nil {
			return err
		}
		ranking.Add(row)
	}
	plan := report.NewPlan(head.Scenario, head.Batch, search.PlanKeys(), ranking.Groups())
	if err := m.writePlan(m.out, plan, options); err != nil {
		return err
	}
	for i := range plan.Sizes {
		best := &plan.Sizes[i].Best[0]
		name, dir := planFile(head.Sizes, best.GPUs), shards.Folder(best.Point)
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return fmt.Errorf("%s: the shard's fastest layout: %w", dir, err)
		}
		if err := m.writeFile(filepath.Join(m.out, name),
			func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
			return err
		}
	}
	return m.showPlan(plan, j)
}
