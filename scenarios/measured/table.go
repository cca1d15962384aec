package measured

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"

	"trainsim/sim/input"
)

// table is a CSV file that has been read up to its header.
type table struct {
	*header
	name string
	csv  *csv.Reader
}

// openTable reads the header of a table.
func openTable(text []byte, name string) (*table, error) {
	c := csv.NewReader(bytes.NewReader(text))
	c.FieldsPerRecord = -1
	names, err := c.Read()
	if err != nil {
		return nil, csvError(name, err)
	}
	return &table{newHeader(names), name, c}, nil
}

// check reports columns that a table of what does not have, that are missing
// or stand there twice.
func (t *table) check(columns []Column, what string) error {
	var out []input.Problem
	known := columnNames(columns)
	for i, name := range t.names {
		line, column := t.csv.FieldPos(i)
		p := input.Problem{File: t.name, Line: line, Column: column, Key: name}
		switch {
		case !slices.Contains(known, name):
			p.Text = "is not a column of a table of " + what + "; " + input.DidYouMean(name, known)
		case t.index[name] != i:
			p.Text = "is a column twice; write it once"
		default:
			continue
		}
		out = append(out, p)
	}
	for i := range columns {
		c := &columns[i]
		if c.Required && !t.has(c.Name) {
			out = append(out, input.Problem{File: t.name, Line: 1, Column: 1, Key: c.Name,
				Text: fmt.Sprintf("is missing; write a column %s (%s)", c.Name, c.Text)})
		}
	}
	if len(out) == 0 {
		return nil
	}
	return &input.Errors{Problems: out}
}

// each calls f for every record below the header.
func (t *table) each(f func(*record)) error {
	for {
		cells, err := t.csv.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return csvError(t.name, err)
		}
		f(&record{file: t.name, header: t.header, cells: cells, place: t.csv.FieldPos})
	}
}

// csvError turns a broken file into a problem with its position.
func csvError(name string, err error) *input.Errors {
	var broken *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return input.FileError(name, "is empty; write a header line and a row for each run")
	case errors.As(err, &broken):
		return &input.Errors{Problems: []input.Problem{{File: name, Line: broken.Line, Column: broken.Column,
			Text: fmt.Sprintf("is not CSV: %v", broken.Err)}}}
	}
	return input.FileError(name, "cannot be read: %v", err)
}
