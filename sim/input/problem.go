package input

import (
	"errors"
	"fmt"
	"strings"
)

// Problem is one thing that is wrong with an input.
type Problem struct {
	File   string `json:"file"`             // path, or the name of what was read
	Line   int    `json:"line,omitempty"`   // from 1; 0 when the problem is with the whole file
	Column int    `json:"column,omitempty"` // from 1, in characters; 0 when it is with the whole line
	Key    string `json:"key,omitempty"`    // full key, as in "parallel.tp"
	Text   string `json:"text"`             // what is wrong; what to write instead

	// At is how the file's kind calls the place, where that is no line and
	// column of text, as in "row 2".
	At string `json:"-"`
	// Cause is the error behind the problem, nil where its words are all there is.
	Cause error `json:"-"`

	others  []string // see With
	excerpt string   // its source line and the caret line; "" without a place
	order   int      // of the file
}

// Bad is a problem with a key of a table, as the table's owner sees it, who
// knows of no file.
func Bad(key, format string, args ...any) *Problem {
	return &Problem{Key: key, Text: fmt.Sprintf(format, args...)}
}

// With names the other keys of the table on which the problem rests: where one
// of them could not be read, there is no problem.
func (p *Problem) With(keys ...string) *Problem {
	p.others = append(p.others, keys...)
	return p
}

// Others are the keys that With has named.
func (p *Problem) Others() []string { return p.others }

// Each returns the problems of which an error is made: itself or those joined in
// it. One that is no problem becomes one without a key.
func Each(err error) []*Problem {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var out []*Problem
		for _, e := range joined.Unwrap() {
			out = append(out, Each(e)...)
		}
		return out
	}
	var p *Problem
	if errors.As(err, &p) {
		return []*Problem{p}
	}
	return []*Problem{{Text: err.Error()}}
}

// stand gives the problem the place of a span, with the line there.
func (p *Problem) stand(at Span) {
	p.File, p.order = at.Src.Name, at.Src.Order
	p.Line, p.Column = at.Src.Position(at.Start)
	line, column := at.Src.around(at.Start)
	if text, caret := excerpt(line, column, at.Src.width(at.Start, at.End)); text != "" {
		p.excerpt = "    " + text + "\n    " + caret
	}
}

// Error is String.
func (p *Problem) Error() string { return p.String() }

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Cause }

// String writes the problem as "file:line:column: key: text".
func (p *Problem) String() string {
	var parts []string
	for _, s := range []string{p.place(), p.Key, p.Text} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ": ")
}

// place writes where the problem is, "" for nowhere.
func (p *Problem) place() string {
	switch {
	case p.At != "" && p.File != "":
		return p.File + ": " + p.At
	case p.At != "":
		return p.At
	case p.Line == 0:
		return p.File
	case p.File == "":
		return fmt.Sprintf("line %d", p.Line)
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Excerpt returns the problem's source line with a caret line under it, or ""
// when it has no position.
func (p *Problem) Excerpt() string { return p.excerpt }
