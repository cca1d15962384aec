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
	"time"

	"github.com/spf13/cobra"

	"trainsim/sim/output"
	"trainsim/sim/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	context.AfterFunc(ctx, func() { time.AfterFunc(patience, leave) })
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// patience is how long an interrupted command may take to stop by itself, as
// simulations and searches do: drawing or printing something large may take longer.
const patience = 700 * time.Millisecond

// leave ends an interrupted command where it is. Nothing is lost: files are whole
// or not there, and what was found is on the disk.
func leave() {
	output.Abandon()
	fmt.Fprintln(os.Stderr, "trainsim: interrupted")
	os.Exit(exitInterrupted)
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
			_, err := fmt.Fprintf(a.stdout, "trainsim %s (%s %s/%s)\n", report.Version, runtime.Version(),
				runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
	a.jsonFlag(cmd)
	return cmd
}
