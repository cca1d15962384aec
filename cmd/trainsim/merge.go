package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"trainsim/plots/chart"
	"trainsim/scenarios"
	"trainsim/sim/report"
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
		Use:   "merge DIR... --out DIR",
		Short: "Join the shards of a sweep or plan",
		Long: `merge joins the folders of a sweep's or plan's shards (see --shard) into what one
process would have written: the same files, byte for byte. Shards of different
sweeps are refused. What is missing is reported; the results that are there are
put into --out then, where the same command without --shard runs the rest.`,
		Example: `  trainsim merge out/shard-*-of-4 --out out`,
		Args:    cobra.MinimumNArgs(1),
		RunE:    m.run,
	}
	f := cmd.Flags()
	f.StringVarP(&m.out, "out", "o", "", "write the joined results to `DIR`")
	a.jsonFlag(cmd)
	m.figures.registerAll(f)
	cmd.MarkFlagRequired("out") //nolint:errcheck // the flag exists
	return cmd
}

func (m *mergeCommand) run(cmd *cobra.Command, args []string) error {
	options, err := m.figures.options()
	if err != nil {
		return err
	}
	shards, err := openShards(args)
	defer closeShards(shards)
	if err != nil {
		return err
	}
	head := *shards[0].head
	head.Shard, head.Shards = 0, 1
	c := &campaign{app: m.app, head: &head, part: whole, dir: m.out}
	j, done, err := c.open()
	if err != nil {
		return err
	}
	defer done()
	joined, err := m.join(j, shards)
	if e := j.finish(); err == nil {
		err = e
	}
	if err == nil {
		err = j.rewrite(0, 1)
	}
	if err == nil {
		err = joined.gaps(shards, m.out)
	}
	if err != nil {
		return err
	}
	if head.Command == "plan" {
		return m.finishPlan(j, &head, shards, options)
	}
	doc := &report.SweepDoc{Version: version, Scenario: head.Scenario, Axes: head.Axes, Rows: j.rows(0, 1)}
	if err := c.writeDoc(doc); err != nil {
		return err
	}
	s := &sweepCommand{app: m.app}
	return s.finish(doc, m.out, whole, options)
}

// shardFolder is the folder of one shard, open for reading.
type shardFolder struct {
	dir  string
	file *os.File
	head *report.JournalHeader
}

// openShards opens the journals of all shards and compares their headers.
func openShards(dirs []string) ([]*shardFolder, error) {
	var out []*shardFolder
	for _, dir := range dirs {
		f, err := os.Open(filepath.Join(dir, journalName))
		if err != nil {
			return out, badInput(fmt.Errorf("%s holds no results of a sweep: %w", dir, cause(err)))
		}
		s := &shardFolder{dir: dir, file: f}
		out = append(out, s)
		h, _, _, err := report.ReadJournal(f, func(report.JournalEntry) error { return nil })
		if err != nil {
			return out, badInput(fmt.Errorf("%s: %w", f.Name(), err))
		}
		s.head = h
		first := out[0].head
		if d := first.Difference(h); d != "" {
			return out, badInput(fmt.Errorf("%s and %s are shards of different sweeps; they differ in %s", dirs[0], dir, d))
		}
		if h.Shards != first.Shards {
			return out, badInput(fmt.Errorf("%s is one of %d shards and %s one of %d; give those of one split", dirs[0], first.Shards, dir, h.Shards))
		}
	}
	return out, nil
}

func closeShards(shards []*shardFolder) {
	for _, s := range shards {
		s.file.Close()
	}
}

// joinedShards is what is known of the shards behind a join.
type joinedShards struct {
	j       *journal
	head    *report.JournalHeader
	doubled []string // folders of shards that are there twice
}

// join copies the rows of all shards. A point that two shards have is a double:
// one of them counts if they agree, otherwise something is wrong.
func (m *mergeCommand) join(j *journal, shards []*shardFolder) (*joinedShards, error) {
	joined := &joinedShards{j: j, head: shards[0].head}
	from := make(map[int]string)
	for _, s := range shards {
		if other, twice := from[s.head.Shard]; twice {
			joined.doubled = append(joined.doubled, fmt.Sprintf("%s and %s are both shard %d/%d", other, s.dir, s.head.Shard, s.head.Shards))
		}
		from[s.head.Shard] = s.dir
	}
	for _, text := range joined.doubled {
		m.warnf("%s", text)
	}
	added := make(map[int]string) // identity by point, of what is on its way to the disk
	for _, s := range shards {
		if _, err := s.file.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		_, _, bad, err := report.ReadJournal(s.file, func(e report.JournalEntry) error {
			row := &e.Row
			if row.Outcome == report.OutcomeFailed {
				return nil
			}
			if id, ok := added[row.Point]; ok {
				if id != row.ID {
					return badInput(fmt.Errorf("%s: point %d is of another scenario than in another shard", s.dir, row.Point))
				}
				return nil
			}
			added[row.Point] = row.ID
			if j.has(row.Point, row.ID) {
				return nil
			}
			return j.add(row)
		})
		if err != nil {
			return nil, err
		}
		if bad > 0 {
			m.warnf("%s: %d lines are damaged", s.dir, bad)
		}
	}
	return joined, nil
}

// gaps is the error of shards or points that are missing.
func (s *joinedShards) gaps(shards []*shardFolder, out string) error {
	var missing []string
	there := make(map[int]bool)
	for _, f := range shards {
		there[f.head.Shard] = true
		if _, err := os.Stat(filepath.Join(f.dir, "plan.json")); s.head.Command == "plan" && err != nil {
			missing = append(missing, fmt.Sprintf("shard %d/%d is not finished", f.head.Shard, f.head.Shards))
		}
	}
	for i := range s.head.Shards {
		if !there[i] {
			missing = append(missing, fmt.Sprintf("shard %d/%d", i, s.head.Shards))
		}
	}
	if s.head.Command != "plan" {
		missing = append(missing, s.points(there)...)
	}
	if len(missing) == 0 {
		return nil
	}
	shown := missing[:min(len(missing), 10)]
	more := ""
	if n := len(missing) - len(shown); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Errorf("missing: %s%s; what there is stands in %s: run the same %s with --out %s and --shard 0/1 for the rest, or the missing shards and merge again",
		strings.Join(shown, ", "), more, out, s.head.Command, out)
}

// points lists the missing points of shards that are there.
func (s *joinedShards) points(there map[int]bool) (missing []string) {
	for point := range s.j.at {
		if s.j.at[point].length == 0 && there[point%s.head.Shards] {
			missing = append(missing, fmt.Sprintf("point %d of shard %d/%d", point, point%s.head.Shards, s.head.Shards))
		}
	}
	return missing
}

// finishPlan makes the plan of all rows. The scenario of a fastest layout is
// the one that its shard has written.
func (m *mergeCommand) finishPlan(j *journal, head *report.JournalHeader, shards []*shardFolder, options []chart.Options) error {
	search := report.NewPlanSearch(head.Top)
	for point := range j.at {
		if j.at[point].length == 0 {
			continue
		}
		for row, err := range j.rows(point, len(j.at)) {
			if err != nil {
				return err
			}
			search.Add(row)
		}
	}
	plan := search.Plan(version, head.Scenario, head.Batch, scenarios.PlanKeys())
	if err := m.writePlan(m.out, plan, options); err != nil {
		return err
	}
	for i := range plan.Sizes {
		best := &plan.Sizes[i].Best[0]
		name := planFile(head.Sizes, best.GPUs)
		s := shards[slices.IndexFunc(shards, func(s *shardFolder) bool { return s.head.Shard == best.Point%s.head.Shards })]
		text, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil {
			return fmt.Errorf("%s: the shard's fastest layout: %w", s.dir, err)
		}
		if err := m.writeFile(filepath.Join(m.out, name), func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
			return err
		}
	}
	return m.showPlan(plan)
}
