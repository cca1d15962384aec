package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"trainsim/scenarios"
	"trainsim/schedule"
	"trainsim/sim/account"
	"trainsim/sim/input"
	"trainsim/sim/job"
)

// overrides are the flags that change keys of a scenario.
type overrides struct {
	sets []string
	seed uint64
}

// flags adds --set and --seed to cmd.
func (o *overrides) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVarP(&o.sets, "set", "s", nil, "set a scenario key, as in `parallel.tp=4` (repeatable)")
	f.Uint64Var(&o.seed, "seed", 0, "root `SEED` of the random streams, as --set seed=N")
	cmd.ValidArgsFunction = completeScenarios
}

// all returns the overrides as --set reads them; the file holds where no flag
// was given.
func (o *overrides) all(cmd *cobra.Command) []string {
	if cmd.Flags().Changed("seed") {
		return append(o.sets[:len(o.sets):len(o.sets)], "seed="+strconv.FormatUint(o.seed, 10))
	}
	return o.sets
}

// load reads one scenario: a file, a built-in name or "-" for stdin.
func (a *app) load(name string, sets []string) (*job.Config, error) {
	if name == "-" {
		return scenarios.LoadReader(a.stdin, "standard input", sets)
	}
	return scenarios.LoadWith(name, sets)
}

// template reads the text of a scenario: a file, a built-in name or "-" for stdin.
func (a *app) template(name string) (*scenarios.Template, error) {
	if name == "-" {
		return scenarios.OpenReader(a.stdin, "standard input")
	}
	return scenarios.Open(name)
}

// loadAll reads several scenarios and reports what is wrong with all of them.
func (a *app) loadAll(names, sets []string) ([]*job.Config, error) {
	var out []*job.Config
	var wrong input.Errors
	taken := map[string]string{}
	for _, name := range names {
		cfg, err := a.load(name, sets)
		var invalid *input.Errors
		if errors.As(err, &invalid) {
			wrong.Problems = append(wrong.Problems, invalid.Problems...)
			continue
		}
		if err != nil {
			return nil, err
		}
		if other, dup := taken[cfg.Name]; dup {
			return nil, usagef("%s and %s are both named %q and would write to one folder; give one of them another "+
				"name", other, name, cfg.Name)
		}
		taken[cfg.Name] = name
		out = append(out, cfg)
	}
	if len(wrong.Problems) > 0 {
		return nil, &wrong
	}
	return out, nil
}

// build makes the job of a scenario. What cannot be built is the scenario's
// fault: it combines things that exist into something that does not.
func build(ctx context.Context, cfg *job.Config) (*job.Job, error) {
	j, err := job.Build(ctx, cfg, account.Peaks)
	switch {
	case errors.Is(err, schedule.ErrDeadlock):
		return nil, unrunnable(fmt.Errorf("%s: %w", cfg.Name, err))
	case err != nil:
		return nil, badInput(fmt.Errorf("%s: %w", cfg.Name, err))
	}
	return j, nil
}

// headline is a job in one line.
func headline(c *job.Config) string {
	p := &c.Parallel
	var b strings.Builder
	fmt.Fprintf(&b, "%d x %s: %s", p.World(), c.GPU.Name, c.Model.Name)
	for _, d := range []struct {
		name string
		n    int
	}{{"TP", p.TP}, {"CP", p.CP}, {"PP", p.PP}, {"DP", p.DP}, {"EP", p.EP}} {
		if d.n > 1 {
			fmt.Fprintf(&b, " %s%d", d.name, d.n)
		}
	}
	if p.ZeRO > 0 {
		fmt.Fprintf(&b, " ZeRO-%d", p.ZeRO)
	}
	if p.PP > 1 {
		fmt.Fprintf(&b, ", %s", c.Schedule.Kind)
	}
	fmt.Fprintf(&b, ", %d micro-batches of %d x %d tokens", c.Schedule.Microbatches, c.Schedule.MicrobatchSize,
		c.Model.Tokens())
	return b.String()
}

// fileName makes a folder's name of a scenario's: no separators, no leading dot.
func fileName(name string) string {
	name = strings.Map(func(c rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, c) || c < ' ' {
			return '-'
		}
		return c
	}, name)
	if strings.Trim(name, ". ") == "" {
		return "unnamed"
	}
	return name
}
