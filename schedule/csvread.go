package schedule

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"trainsim/sim/input"
)

// ParseCSV reads a program in the notation of torch.distributed.pipelining: a
// row for each rank, a cell for each action ("3F0": stage, operation,
// micro-batch), empty cells for waiting, with or without sends and receives
// (SEND_F, RECV_F, SEND_B, RECV_B). UNSHARD, RESHARD and REDUCE_GRAD are read
// over, and lines that begin with # are comments. The placement follows from
// the stages of each row. name is used in errors, which are [*input.Problem]; their
// line is the row and their column the cell.
//
// The program is checked as Check does. One whose ranks wait for each other in a
// circle comes beside the error, an ErrDeadlock, so that a simulation can show
// how far it gets.
func ParseCSV(text, name string) (*Program, error) {
	f := &file{name: name}
	if err := f.read(text); err != nil {
		return nil, err
	}
	p, err := f.place()
	if err != nil {
		return nil, err
	}
	if err := f.fill(p); err != nil {
		return nil, err
	}
	runs, err := p.check()
	switch {
	case err == nil:
		return p, nil
	case runs:
		return p, f.locate(err)
	}
	return nil, f.locate(err)
}

// file is a parsed file: the cells of each row.
type file struct {
	name  string
	rows  [][]cell
	cells int
	comm  bool // it has sends or receives
}

func (f *file) errorf(row int, c *cell, format string, args ...any) error {
	return f.problem(row, c, fmt.Sprintf(format, args...))
}

// problem is one with a cell of a row, or with the row where there is none.
func (f *file) problem(row int, c *cell, text string) *input.Problem {
	p := &input.Problem{File: f.name, Line: row + 1, At: fmt.Sprintf("row %d", row+1), Text: text}
	if c != nil {
		p.Column = c.column
		p.At += fmt.Sprintf(", column %d", c.column)
		if c.text != "" {
			p.At += " (" + input.Quote(c.text) + ")"
		}
	}
	return p
}

func (f *file) read(text string) error {
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		return &input.Problem{File: f.name, Text: "is UTF-16; save it as UTF-8"}
	}
	in := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff"))) // without a byte-order mark
	in.FieldsPerRecord = -1
	in.Comment = '#'
	in.TrimLeadingSpace = true
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return &input.Problem{File: f.name, Text: err.Error()}
		}
		if err := f.readRow(record); err != nil {
			return err
		}
	}
	if len(f.rows) == 0 {
		return &input.Problem{File: f.name, Text: "has no rows; write one row of actions a rank, as in " +
			"0F0,0F1,0B0,0B1"}
	}
	return nil
}

func (f *file) readRow(record []string) error {
	var row []cell
	for i, text := range record {
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		cells, err := parseCell(text)
		if what := input.Separator(text); err != nil && what != "" && len(record) == 1 {
			return f.errorf(len(f.rows), nil, "its actions are separated by %s; write commas between them", what)
		}
		if err != nil {
			return f.errorf(len(f.rows), &cell{column: i + 1, text: text}, "%s", err)
		}
		if f.cells += len(cells); f.cells > MaxActions {
			return f.errorf(len(f.rows), nil, "more than %d actions, sends and receives up to here; write fewer "+
				"micro-batches", MaxActions)
		}
		for _, c := range cells {
			c.column = i + 1
			f.comm = f.comm || c.kind != Compute
			row = append(row, c)
		}
	}
	f.rows = append(f.rows, row)
	return nil
}

// fill turns cells into the lists of a placed program.
func (f *file) fill(p *Program) error {
	p.Lists = make([][]Action, p.Ranks)
	steps := make([][]Step, p.Ranks)
	for rank, row := range f.rows {
		for i := range row {
			a, err := f.action(p, rank, &row[i])
			if err != nil {
				return err
			}
			steps[rank] = append(steps[rank], Step{Kind: row[i].kind, Action: a})
			if row[i].kind == Compute {
				p.Lists[rank] = append(p.Lists[rank], a)
			}
		}
	}
	if f.comm {
		p.steps = steps
	}
	return f.complete(p)
}

// action finds the chunk that a cell's stage is on its rank.
func (f *file) action(p *Program, rank int, c *cell) (Action, error) {
	mb, pipe := c.microbatch, 0
	if p.Placement == Bidirectional {
		each := p.PipeMicrobatches()
		mb, pipe = mb%each, mb/each
	}
	for chunk := range p.Chunks {
		if p.Pipe(chunk) == pipe && p.Stage(rank, chunk) == c.stage {
			a := c.op.At(mb, chunk)
			a.Pair = c.pair
			return a, nil
		}
	}
	return Action{}, f.errorf(rank, c, "micro-batch %d runs through this rank on another stage; of the %d "+
		"micro-batches the first half runs down the stages and the second half up", c.microbatch, p.Microbatches)
}

// locate turns a *CheckError into the row and column of the file.
func (f *file) locate(err error) error {
	var e *CheckError
	if !errors.As(err, &e) {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	index := e.Index
	found := f.problem(e.Rank, nil, e.Token+" "+e.Reason)
	for i := range f.rows[e.Rank] {
		c := &f.rows[e.Rank][i]
		if c.kind != Compute && !e.Steps {
			continue
		}
		if index == 0 {
			found = f.problem(e.Rank, c, e.Reason)
			break
		}
		index--
	}
	found.Cause = e
	return found
}
