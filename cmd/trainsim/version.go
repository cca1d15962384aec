package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"trainsim/sim/report"
)

// newVersionCommand is `trainsim version`.
func newVersionCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.writeJSON(map[string]string{"trainsim_version": report.Version, "go": runtime.Version()})
			}
			_, err := fmt.Fprintf(a.stdout, "trainsim %s (%s %s/%s)\n", report.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
	a.jsonFlag(cmd)
	return cmd
}
