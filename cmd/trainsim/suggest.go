package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
	if best := nearest(name, names); best != "" {
		hint = fmt.Sprintf("; did you mean --%s?", best)
	}
	return usagef("unknown flag --%s%s", name, hint)
}

// didYouMean is the end of an error message that names the nearest name, or
// nothing when none is near.
func didYouMean(name string, names []string) string {
	if best := nearest(name, names); best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return ""
}

// nearest returns the name with the fewest edits to get to it, the first of
// equals, if at most a third of the letters change or name begins it.
func nearest(name string, names []string) string {
	best, least := "", max(1, len(name)/3)+1
	for _, n := range names {
		d := edits(strings.ToLower(name), strings.ToLower(n))
		if len(name) > 1 && strings.HasPrefix(n, name) {
			d = 0
		}
		if d < least {
			best, least = n, d
		}
	}
	return best
}

// edits is the Damerau-Levenshtein distance (adjacent transpositions count
// one) between two strings of bytes.
func edits(a, b string) int {
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
