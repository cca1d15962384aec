package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"trainsim/sim/input"
)

// How to add a command
//
// Write it in a file of its own, NAME.go, as
//
//	func newNAMECommand(a *app) *cobra.Command
//
// and add that constructor to the list below; groups (`alloc replay`) add their
// children themselves. A command
//   - sets RunE, never Run, and returns its errors: exit.go turns them into the
//     message and the exit code. usagef is for wrong usage (2), badInput for a
//     file that is not what it should be (3), unrunnable for a valid job that
//     cannot run (4); everything else is 1. It never calls os.Exit.
//   - prints results to a.stdout and nothing else there; a.warnf, a.notef and
//     a.progress write to stderr and obey --quiet.
//   - calls a.jsonFlag(cmd) when it has --json, then prints one document with
//     a.writeJSON if a.json is set.
//   - writes files with a.writeFile only (whole or not at all; a "-" is stdout;
//     package plots does the same for figures) and reads them with a.readFile
//     ("-" is stdin).
//   - passes cmd.Context() to whatever takes long; a goroutine that it starts
//     recovers its own panics.
var commands = []func(*app) *cobra.Command{
	newRunCommand,
	newCompareCommand,
	newSweepCommand,
	newPlanCommand,
	newMergeCommand,
	newMemoryCommand,
	newAllocCommand,
	newPlotCommand,
	newScheduleCommand,
	newCollectiveCommand,
	newTopoCommand,
	newValidateCommand,
	newCalibrateCommand,
	newListCommand,
	newExplainCommand,
	newVersionCommand,
}

// app is what every command shares: the streams and the global flags.
type app struct {
	stdin    io.Reader
	stdout   *results
	stderr   io.Writer // progress, warnings, wall clock
	terminal bool      // stderr is a terminal
	quiet    bool
	json     bool
	started  bool // a command's RunE was entered: what fails now is not usage
}

// run executes one command line and returns its exit code. Panics end as a
// one-line internal error; TRAINSIM_DEBUG=1 adds the stack.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	a := &app{stdin: &interruptible{ctx, stdin}, stdout: newResults(stdout), stderr: stderr,
		terminal: isTerminal(stderr)}
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(stderr, "trainsim: internal error: %v; please report it with the command line and its files\n",
				p)
			if os.Getenv("TRAINSIM_DEBUG") != "" {
				stderr.Write(debug.Stack())
			}
			code = exitFailure
		}
	}()
	root := newRootCommand(a)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err() // whatever failed, it failed for the interruption
	}
	code = a.report(cmd, err)
	if e := a.stdout.Flush(); e != nil && code == exitOK {
		code = a.report(cmd, e)
	}
	return code
}

// newRootCommand builds the command tree.
func newRootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "trainsim",
		Short: "Simulate distributed training steps",
		Long: `trainsim simulates one step of a distributed training job: its time, its
pipeline bubble, its communication and the memory of every GPU.

Exit codes: 0 done, 1 failure, 2 wrong usage, 3 invalid scenario or input,
4 the simulated job cannot run (out of memory, deadlock), 130 interrupted.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "no progress and no notes on stderr")
	root.SetFlagErrorFunc(flagError)
	for _, build := range commands {
		root.AddCommand(build(a))
	}
	root.SetHelpCommand(newHelpCommand())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	a.prepare(root)
	return root
}

// prepare walks the tree: groups refuse unknown children with a suggestion,
// and every other command notes that it was entered.
func (a *app) prepare(cmd *cobra.Command) {
	cmd.Flags().SortFlags = false
	for _, child := range cmd.Commands() {
		a.prepare(child)
	}
	if !cmd.Runnable() {
		cmd.Args = cobra.ArbitraryArgs
		cmd.RunE = unknownCommand
		return
	}
	inner := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		a.started = true
		return inner(cmd, args)
	}
}

// unknownCommand is what a group of commands does when none of them is named.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		cmd.SetOut(cmd.ErrOrStderr())
		cmd.HelpFunc()(cmd, args)
		return usagef("no command given")
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return usagef("unknown command %q for %q%s", args[0], cmd.CommandPath(), didYouMean(args[0], names))
}

// newHelpCommand is cobra's help command, except that an unknown topic fails.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			target, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(cmd.Root(), args)
			}
			target.InitDefaultHelpFlag()
			return target.Help()
		},
	}
}

// flagError turns pflag's errors into usage errors, with the nearest flag for
// one that does not exist.
func flagError(cmd *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	if !errors.As(err, &missing) || missing.GetSpecifiedShortnames() != "" {
		return usagef("%w", err)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	name := missing.GetSpecifiedName()
	hint := ""
	if best := input.Nearest(name, names); best != "" {
		hint = fmt.Sprintf("; did you mean --%s?", best)
	}
	return usagef("unknown flag --%s%s", name, hint)
}

// didYouMean is the end of an error message that names the nearest name, or
// nothing when none is near.
func didYouMean(name string, names []string) string {
	if best := input.Nearest(name, names); best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return ""
}
