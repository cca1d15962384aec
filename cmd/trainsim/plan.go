package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"trainsim/plots"
	"trainsim/plots/chart"
	"trainsim/scenarios"
	"trainsim/schedule/kinds"
	"trainsim/sim"
	"trainsim/sim/report"
	"trainsim/sim/report/text"
	"trainsim/sim/search"
	"trainsim/sim/search/journal"
)

// planCommand is `trainsim plan` with its flags.
type planCommand struct {
	*app
	overrides
	figures         figureFlags
	fix, kinds      []string
	gpus            []int
	maxMemory       string
	minMicrobatches int
	batch           int64
	top, jobs       int
	out, shard      string
	startFlags
	everyRank bool
}

// newPlanCommand is `trainsim plan`.
func newPlanCommand(a *app) *cobra.Command {
	p := &planCommand{app: a}
	cmd := &cobra.Command{
		Use:   "plan SCENARIO",
		Short: "Search the layouts that fit and are fastest",
		Long: `plan takes the model, the cluster and the global batch of a scenario and
searches tensor, pipeline, data, context and expert parallelism, micro-batches and their
size, schedule, virtual stages, recomputation, ZeRO and sequence parallelism.
Layouts that a proved bound or the memory account rules out are not simulated;
the results are those of simulating all. Tensor and context parallelism stay
inside a node, micro-batches are powers of two, and selective recomputation is
for attention that is not fused; --fix allows other values.

It prints the ten fastest layouts that fit with why, and the front of step time
against memory to spare, and writes plan.csv, plan.json, plan.png and the fastest
as plan.toml, which "trainsim run" takes. After an interruption the same command
goes on where it stopped; --fresh starts over, --retry-failed simulates again the
layouts whose simulation failed (exit code 1).`,
		Example: `  trainsim plan 70b-tp4-pp2
  trainsim plan 70b-tp4-pp2 --fix parallel.tp=4 --max-memory 72GiB --min-microbatches 8
  trainsim plan 70b-tp4-pp2 --gpus 64,128,256`,
		Args: cobra.ExactArgs(1),
		RunE: p.run,
	}
	f := cmd.Flags()
	p.overrides.flags(cmd)
	f.StringArrayVar(&p.fix, "fix", nil, "do not search a key but leave it at a value, as in `parallel.tp=4` "+
		"(repeatable)")
	f.StringVar(&p.maxMemory, "max-memory", "", "let no GPU need more than `SIZE`, as in 72GiB")
	f.IntVar(&p.minMicrobatches, "min-microbatches", 1, "the fewest micro-batches of a replica")
	f.Int64Var(&p.batch, "global-batch", 0, "`SAMPLES` of a step (default: the scenario's)")
	f.IntSliceVar(&p.gpus, "gpus", nil, "`COUNTS` of GPUs to search (default: the scenario's)")
	f.StringSliceVar(&p.kinds, "schedules", []string{"1f1b", "interleaved"},
		"pipeline `SCHEDULES` to search (see trainsim list schedules)")
	f.IntVar(&p.top, "top", 10, "how many of the fastest layouts to show")
	f.StringVarP(&p.out, "out", "o", "", "write files to `DIR` (default trainsim-out/NAME-plan)"+replacedNote)
	a.jsonFlag(cmd)
	p.figures.registerAll(f)
	f.IntVarP(&p.jobs, "jobs", "j", 0, "simulate `N` layouts at a time; 0 is one a core")
	shardFlag(f, &p.shard)
	p.startFlags.register(cmd)
	f.BoolVar(&p.everyRank, "no-fold", false, "simulate every rank, also those that cannot differ")
	return cmd
}

func (p *planCommand) run(cmd *cobra.Command, args []string) error {
	options, err := p.figures.options()
	if err != nil {
		return err
	}
	part, err := p.environmentShard(p.shard)
	if err != nil {
		return err
	}
	space, err := p.space(args[0], p.all(cmd))
	if err != nil {
		return err
	}
	planner := search.NewPlanner(space)
	planner.Top = p.top
	if err := p.limit(planner); err != nil {
		return err
	}
	dir := p.out
	if dir == "" {
		dir = filepath.Join("trainsim-out", fileName(space.Base.Name)+"-plan")
	}
	for _, r := range planner.Refused {
		p.notef("left out %d layouts that cannot be: %s", r.Layouts, r.Problem)
	}
	if len(planner.Layouts) == 0 {
		return usagef("no layout of %s has what is asked for: %s; fix fewer keys, or other values", space.Base.Name,
			strings.Join(append(p.fix, fmt.Sprintf("a global batch of %d", space.Batch)), ", "))
	}
	dir = part.Folder(dir)
	how := search.Options{Jobs: p.jobs, Shard: part, EveryRank: p.everyRank}
	j, err := p.openJournal(dir, journal.ForPlan(planner, how), p.start())
	if err != nil {
		return err
	}
	defer j.Close()
	plan, counts, err := p.search(cmd.Context(), j, planner, how)
	if err != nil {
		return err
	}
	if err := p.write(dir, plan, planner, options); err != nil {
		return err
	}
	if err := j.Sort(); err != nil {
		return err
	}
	return p.show(plan, counts, j)
}

// search searches and sees the results to the disk.
func (p *planCommand) search(
	ctx context.Context, j *journal.Journal, planner *search.Planner, how search.Options,
) (*report.Plan, *search.PlanCounts, error) {
	var finish func()
	how.Progress, finish = p.bar("searching")
	plan, counts, err := planner.Plan(ctx, j, how)
	finish()
	if e := j.Finish(); err == nil {
		err = e
	}
	if ctx.Err() != nil {
		p.notef("%d results are in %s; the same command goes on from there", j.Kept(), j.Path())
	}
	return plan, counts, err
}

// space reads the scenario and what is to be searched.
func (p *planCommand) space(name string, sets []string) (*search.Space, error) {
	var s search.Space // what is given before the job
	for _, k := range p.kinds {
		kind, err := kinds.Find(k)
		if err != nil {
			return nil, usagef("--schedules: %v", err)
		}
		s.Kinds = append(s.Kinds, kind.Name)
	}
	for _, text := range p.fix {
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, usagef("--fix %q: write something like parallel.tp=4", text)
		}
		chosen, err := s.Fix(strings.TrimSpace(key), strings.TrimSpace(value))
		if err != nil {
			return nil, usagef("--fix %v", err)
		}
		if !chosen {
			sets = append(sets[:len(sets):len(sets)], text)
		}
	}
	base, err := p.load(name, sets)
	if err != nil {
		return nil, err
	}
	space := search.NewSpace(base)
	space.Kinds, space.Fixed, space.MinMicrobatches = s.Kinds, s.Fixed, p.minMicrobatches
	if p.batch != 0 {
		space.Batch = p.batch
	}
	if space.Batch < 1 || p.top < 1 || p.minMicrobatches < 1 {
		return nil, usagef("--global-batch, --top and --min-microbatches are at least 1")
	}
	if len(p.gpus) > 0 {
		if err := space.SetGPUs(p.gpus); err != nil {
			return nil, usagef("--gpus %v", err)
		}
	}
	return space, nil
}

// limit is the memory that a GPU may need.
func (p *planCommand) limit(planner *search.Planner) error {
	if p.maxMemory == "" {
		return nil
	}
	size, err := sim.ParseBytes(p.maxMemory)
	if err != nil || size <= 0 {
		return usagef("--max-memory %q: write a size such as 72GiB", p.maxMemory)
	}
	planner.Limit = min(planner.Limit, int64(size))
	return nil
}

// write writes the files of a plan.
func (p *planCommand) write(dir string, plan *report.Plan, planner *search.Planner, options []chart.Options) error {
	if err := p.writePlan(dir, plan, options); err != nil {
		return err
	}
	for i := range plan.Sizes {
		best := &plan.Sizes[i].Best[0]
		name := planFile(len(planner.Space.Nodes), best.GPUs)
		cfg := planner.Layouts[best.Point].Apply(planner.Space.Base)
		cfg.Name = nameWith(cfg.Name, strings.TrimSuffix("-"+name, ".toml"))
		cfg.Description = "The fastest layout that trainsim plan found: " + report.LayoutLabel(best.Settings)
		if err := p.writeFile(filepath.Join(dir, name),
			func(w io.Writer) error { return scenarios.Write(w, cfg) }); err != nil {
			return err
		}
		p.notef("wrote %s", filepath.Join(dir, name))
	}
	return nil
}

// nameWith puts an ending behind a scenario's name, cut where both are too long.
func nameWith(name, ending string) string {
	for len(name)+len(ending) > scenarios.MaxName {
		_, last := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-last]
	}
	return name + ending
}

// planFile names the scenario file of the fastest layout.
func planFile(sizes, gpus int) string {
	if sizes > 1 {
		return fmt.Sprintf("plan-%d.toml", gpus)
	}
	return "plan.toml"
}

// writePlan writes a plan as CSV, JSON and figure.
func (a *app) writePlan(dir string, plan *report.Plan, options []chart.Options) error {
	err := a.writeDocument(filepath.Join(dir, "plan.json"), plots.OfPlan, asJSON(plan),
		"plan.toml", "plan-[0-9]*.toml")
	if err == nil {
		err = a.writeFile(filepath.Join(dir, "plan.csv"), plan.WriteCSV)
	}
	if err != nil {
		return err
	}
	a.notef("wrote %s and plan.json", filepath.Join(dir, "plan.csv"))
	return a.drawAll(dir, options, plots.OfPlan, &plots.Data{Plan: plan})
}

// show prints the plan and what became of the layouts.
func (p *planCommand) show(plan *report.Plan, n *search.PlanCounts, j *journal.Journal) error {
	failed := ""
	if n.Failed > 0 {
		failed = fmt.Sprintf(", %d failed", n.Failed)
	}
	p.notef("%d layouts: %d too large by a bound, %d too slow by a bound, %d impossible, %d out of memory%s, %d "+
		"simulated",
		n.Layouts, n.TooLarge, n.TooSlow, n.Impossible, n.OutOfMemory, failed, n.Simulated)
	return p.showPlan(plan, j)
}

// showPlan prints a plan. Layouts that failed may have been the fastest: that is
// an error, as is a plan without a layout, whose job cannot run.
func (a *app) showPlan(plan *report.Plan, j *journal.Journal) error {
	var err error
	if a.json {
		err = a.writeJSON(plan)
	} else {
		err = text.Plan(a.stdout, plan)
	}
	if err == nil {
		err = failedLayouts(j)
	}
	if err == nil && len(plan.Sizes) == 0 {
		err = unrunnable(fmt.Errorf("no layout of %s fits into memory", plan.Scenario))
	}
	return err
}

// failedLayouts is the error of layouts whose simulation failed.
func failedLayouts(j *journal.Journal) error {
	n, first := 0, ""
	for row, err := range j.Found() {
		if err != nil {
			return err
		}
		if row.Outcome != report.OutcomeFailed {
			continue
		}
		if n++; n == 1 {
			first = report.LayoutLabel(row.Settings) + ": " + row.Reason
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%d layouts failed, the first is %s; --retry-failed simulates them again", n, first)
}
