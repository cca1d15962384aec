package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"trainsim/scenarios"
	"trainsim/scenarios/keys"
	"trainsim/sim/account"
	"trainsim/sim/input"
	"trainsim/sim/job"
	"trainsim/sim/report"
	"trainsim/sim/search"
)

// memorySchema names the version of `memory --json`.
const memorySchema = "trainsim.memory/v1"

// memoryAccount is what `memory --json` prints of one scenario.
type memoryAccount struct {
	Schema         string               `json:"schema"`
	Scenario       any                  `json:"scenario"`
	Fits           bool                 `json:"fits"`
	Reason         string               `json:"reason,omitempty"` // why it does not fit
	MemoryPerStage []report.StageMemory `json:"memory_per_stage"`
	Fixes          []report.Advice      `json:"advice"`
	// Explained takes each stage apart, with --explain.
	Explained []memoryParts `json:"explained,omitempty"`
	// Optimizers is the bytes a parameter, by optimizer.
	Optimizers []optimizerBytes `json:"bytes_per_parameter,omitempty"`
	// Largest is the answer to --max.
	Largest *search.Largest `json:"largest,omitempty"`
}

// newMemoryCommand is `trainsim memory`.
func newMemoryCommand(a *app) *cobra.Command {
	var o overrides
	var explain bool
	var key string
	cmd := &cobra.Command{
		Use:   "memory SCENARIO...",
		Short: "Account for the memory of every stage, without a simulation",
		Long: `memory replays the allocations of a training step through the caching
allocator, one rank of each pipeline stage, and prints what fills it at the
peak. A job that does not fit is told what would make it fit; exit code 4.
--explain spells the formulas out, and --max finds the largest value of a key
with which the job fits.`,
		Example: `  trainsim memory 70b-tp4-pp2 --explain
  trainsim memory 70b-tp4-pp2 --max microbatch_size`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfgs, err := a.loadAll(args, o.all(cmd))
			if err != nil {
				return err
			}
			if key != "" && args[0] == "-" {
				return usagef("--max reads the scenario several times; write it to a file")
			}
			var accounts []*memoryAccount
			for i, cfg := range cfgs {
				if err := cmd.Context().Err(); err != nil {
					return err
				}
				m, err := accountFor(cmd.Context(), cfg, explain)
				if err != nil {
					return err
				}
				if key != "" {
					if m.Largest, err = a.largest(cmd.Context(), cfg, args[i], o.all(cmd), key); err != nil {
						return err
					}
				}
				accounts = append(accounts, m)
			}
			return a.showMemory(cfgs, accounts)
		},
	}
	o.flags(cmd)
	a.jsonFlag(cmd)
	cmd.Flags().BoolVar(&explain, "explain", false, "spell out the formula of every part")
	cmd.Flags().StringVar(&key, "max", "", "find the largest value of `KEY` that fits, as in microbatch_size")
	return cmd
}

// accountFor makes the memory account of a scenario, and looks for what would make
// it fit if it does not.
func accountFor(ctx context.Context, cfg *job.Config, explain bool) (*memoryAccount, error) {
	j, err := build(ctx, cfg)
	if err != nil {
		return nil, err
	}
	ranks, err := account.Replay(ctx, j, false)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cfg.Name, err)
	}
	m := &memoryAccount{Schema: memorySchema, Scenario: scenarios.Resolved(cfg), Fits: true,
		Reason: report.MemoryReason(ranks), MemoryPerStage: report.MemoryOf(ranks), Fixes: []report.Advice{}}
	for i, s := range m.MemoryPerStage {
		m.Fits = m.Fits && s.Fits
		if explain {
			m.Explained = append(m.Explained, explained(j, &m.MemoryPerStage[i]))
		}
	}
	if explain {
		if m.Optimizers, err = optimizerTable(j); err != nil {
			return nil, err
		}
	}
	if !m.Fits {
		for _, f := range report.Fixes(ctx, cfg) {
			m.Fixes = append(m.Fixes, report.Advice{Code: "out-of-memory", Severity: "error", Text: f.Text,
				Change: f.Change})
		}
	}
	return m, ctx.Err()
}

// largest answers --max. The key of an evaluation that a scenario does not have
// limits nothing.
func (a *app) largest(ctx context.Context, cfg *job.Config, scenario string, sets []string,
	key string) (*search.Largest, error) {
	full := keys.Full(key)
	if strings.HasPrefix(full, "evaluation.") && full != "evaluation.batches" && cfg.Evaluation.Batches == 0 {
		return nil, usagef("--max %s: %s has no evaluation, so that %s changes nothing; write "+
			"schedule.microbatch_size for the sequences of a training step, "+
			"or add --set evaluation.batches=1", key, cfg.Name, full)
	}
	t, err := a.template(scenario)
	if err != nil {
		return nil, err
	}
	l, err := search.FindLargest(ctx, t, sets, full)
	return l, ofMax(err, len(sets)+1)
}

// ofMax says of problems with the value that is tried, the last override, that
// they are --max's.
func ofMax(err error, override int) error {
	var all *input.Errors
	if !errors.As(err, &all) {
		return err
	}
	out := &input.Errors{Dropped: all.Dropped}
	for _, p := range all.Problems {
		if p.File == "--set" && p.Line == override {
			p = input.Problem{File: "--max", Key: p.Key, Text: p.Text}
		}
		out.Problems = append(out.Problems, p)
	}
	return out
}

// showMemory prints the accounts; one that does not fit is exit code 4.
func (a *app) showMemory(cfgs []*job.Config, accounts []*memoryAccount) error {
	var misfits []string
	for i, m := range accounts {
		if !m.Fits {
			misfits = append(misfits, cfgs[i].Name+": does not fit into memory")
		}
	}
	err := showAll(a, accounts)
	for i, m := range accounts {
		if a.json || err != nil {
			break
		}
		if i > 0 {
			fmt.Fprintln(a.stdout)
		}
		err = writeMemory(a.stdout, cfgs[i], m)
	}
	if err != nil || len(misfits) == 0 {
		return err
	}
	return unrunnable(fmt.Errorf("%s", strings.Join(misfits, "\n")))
}

// writeMemory prints one account as a table in GiB.
func writeMemory(out io.Writer, cfg *job.Config, m *memoryAccount) error {
	fmt.Fprintf(out, "%s: memory of the fullest GPU of each stage at its peak, in GiB\n\n", cfg.Name)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w,
		"stage\trank\tweights\tgradients\toptimizer\tactivations\ttemporaries\tcomm\tcontext\t"+
			"allocated\treserved\tnvidia-smi\tcapacity\tfits\t")
	for _, s := range m.MemoryPerStage {
		fmt.Fprintf(w, "%d\t%d\t", s.Stage, s.Rank)
		p := &s.AtPeak
		for _, bytes := range []int64{
			p.Weights, p.Gradients, p.Optimizer, p.Activations, p.Temporaries, p.CommBuffers, p.Context,
			s.PeakAllocated, s.PeakReserved, s.NvidiaSMI, s.Capacity,
		} {
			fmt.Fprintf(w, "%.2f\t", gib(bytes))
		}
		fmt.Fprintf(w, "%s\t\n", map[bool]string{true: "yes", false: "no"}[s.Fits])
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := writeExplained(out, m.Explained); err != nil {
		return err
	}
	if err := writeOptimizers(out, cfg, m.Optimizers); err != nil {
		return err
	}
	if m.Reason != "" {
		fmt.Fprintf(out, "\nIt does not fit: %s.\n", m.Reason)
	}
	if m.Largest != nil {
		fmt.Fprintf(out, "\n%s\n", m.Largest)
	}
	if !m.Fits && len(m.Fixes) == 0 {
		fmt.Fprintln(out, "\nNo single change of the layout, of recomputation or of ZeRO makes it fit.")
	}
	for i, f := range m.Fixes {
		if i == 0 {
			fmt.Fprintln(out, "\nWhat would make it fit, one change each:")
		}
		fmt.Fprintf(out, "  %s\n", f.Text)
	}
	return nil
}
