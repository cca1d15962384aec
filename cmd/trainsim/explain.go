package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"trainsim/scenarios/keys"
)

// newExplainCommand is `trainsim explain`.
func newExplainCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain [KEY]...",
		Short: "Say what a scenario key or a report field means",
		Long: `explain says what a scenario key or a field of the JSON report means, with its
unit and default. The end of a key will do; without a key it lists all.`,
		Example:           "  trainsim explain parallel.zero\n  trainsim explain over_ideal",
		ValidArgsFunction: completeKeys,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.listKeys()
			}
			var asked []keys.Key
			for _, arg := range args {
				found, err := keys.Explain(arg)
				if err != nil {
					return usagef("%w", err)
				}
				asked = append(asked, found...)
			}
			if a.json {
				return a.writeJSON(jsonKeys(asked))
			}
			for i := range asked {
				if i > 0 {
					fmt.Fprintln(a.stdout)
				}
				a.explain(&asked[i])
			}
			return nil
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

// explain prints one key.
func (a *app) explain(k *keys.Key) {
	fmt.Fprintf(a.stdout, "%s\n  %s\n", k.Path, k.Text)
	line := func(what, text string) {
		if text != "" {
			fmt.Fprintf(a.stdout, "  %-9s%s\n", what+":", text)
		}
	}
	line("unit", k.Unit)
	line("values", strings.Join(k.Values, ", "))
	line("default", k.DefaultText())
}

// listKeys prints every key of a scenario, then every field of the report, a
// line each.
func (a *app) listKeys() error {
	if a.json {
		return a.writeJSON(jsonKeys(append(keys.Scenario(), keys.Report()...)))
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, part := range []struct {
		title string
		keys  []keys.Key
	}{{"scenario", keys.Scenario()}, {"report", keys.Report()}} {
		fmt.Fprintf(w, "%s\n", part.title)
		for i := range part.keys {
			k := &part.keys[i]
			fmt.Fprintf(w, "  %s\t%s\t%s\n", k.Path, k.DefaultText(), k.Text)
		}
	}
	return w.Flush()
}

// jsonKey is a key as --json prints it.
type jsonKey struct {
	Key     string   `json:"key"`
	Text    string   `json:"text"`
	Unit    string   `json:"unit,omitempty"`
	Values  []string `json:"values,omitempty"`
	Default string   `json:"default,omitempty"`
}

func jsonKeys(some []keys.Key) []jsonKey {
	out := make([]jsonKey, len(some))
	for i := range some {
		k := &some[i]
		out[i] = jsonKey{k.Path, k.Text, k.Unit, k.Values, k.DefaultText()}
	}
	return out
}

// completeKeys completes scenario keys and report fields.
func completeKeys(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, k := range append(keys.Scenario(), keys.Report()...) {
		out = append(out, k.Path)
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
