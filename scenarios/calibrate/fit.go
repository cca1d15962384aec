package calibrate

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// Table is a file of measurements; the name stands for it in messages and in the
// preset that is fitted to it.
type Table struct {
	Name string
	Text []byte
}

// Fit is a preset that was fitted to measurements.
type Fit struct {
	// Name is the preset's.
	Name string
	// Before and After are tables of the errors, a line each kind of measurement.
	Before, After string
	// Fitted is to how many of the Rows it was fitted, and LeftOut says how many
	// were not and why, one reason each.
	Rows, Fitted int
	LeftOut      []string

	comment []string
	write   func(w io.Writer, comment []string) error
}

// Write writes what was fitted as a preset file that stands on the preset.
func (f *Fit) Write(w io.Writer) error { return f.write(w, f.comment) }

// fittedTo is the comment of a written preset: where it comes from and how
// well it fits.
func fittedTo(what string, tables []Table, after string) []string {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = filepath.Base(t.Name)
	}
	out := []string{fmt.Sprintf("The %s, fitted by trainsim calibrate to %s. Errors that remain:", what,
		strings.Join(names, ", "))}
	for line := range strings.Lines(after) {
		out = append(out, strings.TrimRight(line, " \n"))
	}
	return out
}
