package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"trainsim/schedule"
	"trainsim/sim"
	"trainsim/sim/input"
	"trainsim/sim/output"
)

// Exit codes of the command.
const (
	exitOK          = 0
	exitFailure     = 1   // a failure of ours or of input/output
	exitUsage       = 2   // wrong usage
	exitInput       = 3   // an invalid scenario or input file
	exitUnrunnable  = 4   // a valid scenario that cannot run
	exitInterrupted = 130 // Ctrl-C
)

// coded is an error that carries its exit code.
type coded struct {
	code int
	err  error
}

func (e *coded) Error() string { return e.err.Error() }
func (e *coded) Unwrap() error { return e.err }

// usagef is an error of usage: exit code 2.
func usagef(format string, args ...any) error {
	return &coded{exitUsage, fmt.Errorf(format, args...)}
}

// badInput marks err as the fault of an input file: exit code 3.
func badInput(err error) error { return &coded{exitInput, err} }

// unreadable is the error of a file of input that cannot be read: exit code 3.
func unreadable(path string, err error) error {
	return badInput(fmt.Errorf("%s: %w", path, output.Cause(err)))
}

// unrunnable marks err as a job that is valid but cannot run: exit code 4.
func unrunnable(err error) error { return &coded{exitUnrunnable, err} }

// exitCode is the one place that maps errors to exit codes.
func (a *app) exitCode(err error) int {
	var c *coded
	var invalid *input.Errors
	var bad *input.Invalid
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &c):
		return c.code
	case errors.As(err, &invalid), errors.As(err, &bad):
		return exitInput
	case errors.Is(err, schedule.ErrDeadlock), errors.Is(err, sim.ErrHorizon):
		return exitUnrunnable
	case !a.started: // cobra refused the arguments
		return exitUsage
	}
	return exitFailure
}

// report prints err to stderr and returns the exit code.
func (a *app) report(cmd *cobra.Command, err error) int {
	code := a.exitCode(err)
	var invalid *input.Errors
	switch {
	case code == exitOK:
	case code == exitInterrupted:
		fmt.Fprintln(a.stderr, "trainsim: interrupted")
	case code == exitInput && errors.As(err, &invalid):
		fmt.Fprintln(a.stderr, harmless(invalid.Error())) // begins with file:line:column, as editors read it
		a.reportProblems(invalid)
	default:
		fmt.Fprintln(a.stderr, "trainsim: "+harmless(err.Error()))
	}
	if code == exitUsage {
		fmt.Fprintf(a.stderr, "Run '%s --help' for usage.\n", cmd.CommandPath())
	}
	return code
}

// errorsSchema names the version of what --json prints of an invalid scenario.
const errorsSchema = "trainsim.errors/v1"

// reportProblems prints what is wrong with a scenario as the one JSON document
// when --json asks for one.
func (a *app) reportProblems(e *input.Errors) {
	if !a.json {
		return
	}
	if err := a.writeJSON(map[string]any{"schema": errorsSchema, "problems": e.Problems}); err != nil {
		a.warnf("%v", err)
	}
}
