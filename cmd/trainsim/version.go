package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

// version is the version of trainsim in reports and saved runs.
const version = "0.1.0"

// newVersionCommand is `trainsim version`.
func newVersionCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.writeJSON(map[string]string{"trainsim_version": version, "go": runtime.Version()})
			}
			_, err := fmt.Fprintf(a.stdout, "trainsim %s (%s %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
	a.jsonFlag(cmd)
	return cmd
}
