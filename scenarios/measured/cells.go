package measured

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"trainsim/sim/input"
	"trainsim/sim/model"
)

// record is one record of a table of runs. Only the first thing wrong with it
// is kept: it is the reason to skip the row.
type record struct {
	file    string
	header  *header
	cells   []string
	place   func(field int) (line, column int)
	skipped string
	// preset is the model that a table names; nil where columns describe it.
	preset *model.Config
	// defaults are what empty cells of a table stand for.
	defaults map[string]string
}

// at returns where a column's cell stands; the row's start if it has none.
func (r *record) at(column string) (line, col int) {
	i, ok := r.header.index[column]
	if !ok || i >= len(r.cells) {
		i = 0
	}
	return r.place(i)
}

// skip notes why the row cannot be run.
func (r *record) skip(column, format string, args ...any) {
	if r.skipped != "" {
		return
	}
	line, col := r.at(column)
	p := input.Problem{File: r.file, Line: line, Column: col, Key: column, Text: fmt.Sprintf(format, args...)}
	r.skipped = p.String()
}

func (r *record) text(column string) string {
	if i, ok := r.header.index[column]; ok && i < len(r.cells) {
		if s := strings.TrimSpace(r.cells[i]); s != "" {
			return s
		}
	}
	return r.defaults[column]
}

// word reads one of a column's words; an empty cell is the first argument.
func (r *record) word(column, otherwise string) string {
	s := r.text(column)
	values := columnValues(column)
	switch {
	case s == "" && otherwise != "":
		return otherwise
	case len(values) > 0 && !slices.Contains(values, s):
		r.skip(column, "%s is not known here; %s", input.Quote(s), input.DidYouMean(s, values))
		return otherwise
	}
	return s
}

func columnValues(name string) []string {
	for i := range runColumns {
		if runColumns[i].Name == name {
			return runColumns[i].Values
		}
	}
	return nil
}

func (r *record) flag(column string) bool { return r.word(column, "0") == "1" }

// maxCell bounds the counts of a row, so that products of a few of them are
// exact.
const maxCell = 1 << 27

// count reads a whole number of at least 1; an empty cell is otherwise, and an
// error where otherwise is 0.
func (r *record) count(column string, otherwise int) int {
	s := r.text(column)
	if s == "" && otherwise > 0 {
		return otherwise
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > maxCell {
		r.skip(column, "%s is not a count; write a whole number from 1 to %d", input.Quote(s), maxCell)
		return 1
	}
	return n
}

// measure reads a measured figure, 0 where the cell is empty.
func (r *record) measure(column string) float64 {
	s := r.text(column)
	if s == "" {
		return 0
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(x > 0) || math.IsInf(x, 0) || x > 1e12 {
		r.skip(column, "%s is not a measurement; write a positive number, or leave it empty", input.Quote(s))
		return 0
	}
	return x
}

// header knows where each column stands.
type header struct {
	names []string
	index map[string]int
}

func newHeader(names []string) *header {
	h := &header{index: make(map[string]int, len(names))}
	for i, name := range names {
		name = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(name, "\ufeff")))
		h.names = append(h.names, name)
		if _, twice := h.index[name]; !twice {
			h.index[name] = i
		}
	}
	return h
}

// has reports whether there are columns of all the names.
func (h *header) has(names ...string) bool {
	for _, name := range names {
		if _, ok := h.index[name]; !ok {
			return false
		}
	}
	return true
}
