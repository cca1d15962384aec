package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"trainsim/sim/input"
)

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
