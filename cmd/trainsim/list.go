package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"trainsim/plots"
	"trainsim/scenarios"
	"trainsim/schedule/kinds"
)

// Kinds of what is built in that no file holds.
const (
	schedulesKind = "schedules"
	figuresKind   = "figures"
)

// allKinds lists what there is to list.
func allKinds() []string { return append(scenarios.ListKinds(), schedulesKind, figuresKind) }

// newListCommand is `trainsim list`.
func newListCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list KIND [NAME]",
		Short: "List what is built in, or print one of it",
		Long: `list shows the built-in scenarios, models, gpus, clusters, frameworks or
schedules, or the figures that commands draw. With the name of one it prints that file, a preset with
all that it takes from the one on which it stands, with the sources of its figures.`,
		Example: `  trainsim list gpus
  trainsim list scenarios 70b-tp4-pp2 >my.toml`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: completeList,
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 2 && args[0] == schedulesKind:
				return a.printSchedule(args[1])
			case len(args) == 2 && args[0] == figuresKind:
				return a.printFigure(args[1])
			case len(args) == 2:
				return a.printSource(args[0], args[1])
			}
			entries, err := listEntries(args[0])
			if err != nil {
				return usagef("there is nothing of kind %q to list%s", args[0], didYouMean(args[0], allKinds()))
			}
			if a.json {
				return a.writeJSON(entries)
			}
			return a.printEntries(entries)
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

// listEntries returns the entries of a kind, the schedules in the order of
// their families, the figures in that of the registry.
func listEntries(kind string) ([]scenarios.Entry, error) {
	var out []scenarios.Entry
	switch kind {
	case figuresKind:
		for _, e := range plots.Registry() {
			out = append(out, scenarios.Entry{Name: e.Name,
				Description: fmt.Sprintf("%s (trainsim %s)", e.Caption, e.Of)})
		}
		return out, nil
	case schedulesKind:
	default:
		return scenarios.List(kind)
	}
	for _, k := range kinds.All() {
		out = append(out, scenarios.Entry{Name: k.Name, Description: k.Summary})
	}
	return out, nil
}

// printEntries prints a line an entry, machines of published runs apart.
func (a *app) printEntries(entries []scenarios.Entry) error {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	var published []scenarios.Entry
	for _, e := range entries {
		if e.PublishedRuns != "" {
			published = append(published, e)
			continue
		}
		fmt.Fprintf(w, "%s\t%s\n", e.Name, e.Description)
	}
	if len(published) > 0 {
		fmt.Fprint(w, "\nMachines of published runs, as tables for trainsim validate name them:\n")
	}
	for _, e := range published {
		fmt.Fprintf(w, "%s\t%s\t%s\n", e.Name, e.PublishedRuns, e.Description)
	}
	return w.Flush()
}

// printSource prints a built-in file, a preset whole.
func (a *app) printSource(kind, name string) error {
	text, err := scenarios.Source(kind, name)
	if err != nil {
		return usagef("%w", err)
	}
	if a.json {
		return a.writeJSON(map[string]string{"name": name, "toml": string(text)})
	}
	_, err = a.stdout.Write(text)
	return err
}

// printSchedule says what one schedule is and takes.
func (a *app) printSchedule(name string) error {
	k, err := kinds.Find(name)
	if err != nil {
		return usagef("%w", err)
	}
	if a.json {
		return a.writeJSON(map[string]any{"name": k.Name, "aliases": k.Aliases, "description": k.Summary,
			"takes": k.Constraint, "chunks": k.Chunks})
	}
	fmt.Fprintf(a.stdout, "%s: %s\n  takes:   %s\n", k.Name, k.Summary, k.Constraint)
	for _, alias := range k.Aliases {
		fmt.Fprintf(a.stdout, "  also:    %s\n", alias)
	}
	return nil
}

// printFigure says what one figure shows and which command draws it.
func (a *app) printFigure(name string) error {
	var names []string
	for _, e := range plots.Registry() {
		if e.Name != name {
			names = append(names, e.Name)
			continue
		}
		if a.json {
			return a.writeJSON(map[string]string{"name": e.Name, "description": e.Caption, "command": string(e.Of)})
		}
		_, err := fmt.Fprintf(a.stdout, "%s: %s\n  drawn by: trainsim %s\n", e.Name, e.Caption, e.Of)
		return err
	}
	return usagef("there is no figure %q%s", name, didYouMean(name, names))
}

// completeList completes the kind, then the name.
func completeList(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return allKinds(), cobra.ShellCompDirectiveNoFileComp
	}
	entries, _ := listEntries(args[0])
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeScenarios completes files and the names of the built-in scenarios.
func completeScenarios(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return scenarios.Names(), cobra.ShellCompDirectiveDefault
}
