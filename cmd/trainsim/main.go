// Command trainsim simulates distributed training steps: how long a step is,
// where the time goes, how large the pipeline bubble is, how much memory each
// GPU needs, whether the job fits, and what to change.
//
// Results go to stdout; progress, warnings and wall-clock times go to stderr.
// The exit code is 0 when done, 1 on a failure of trainsim or of input/output,
// 2 on wrong usage, 3 on an invalid scenario or input file, 4 when a valid
// scenario cannot run (out of memory, deadlock), and 130 when interrupted.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"trainsim/sim/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

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
