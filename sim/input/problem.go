package input

import (
	"fmt"
	"strings"
)

// Problem is one thing that is wrong with an input.
type Problem struct {
	File   string `json:"file"`             // path, or the name of what was read
	Line   int    `json:"line,omitempty"`   // from 1; 0 when the problem is with the whole file
	Column int    `json:"column,omitempty"` // from 1, in characters
	Key    string `json:"key,omitempty"`    // full key, as in "parallel.tp"
	Text   string `json:"text"`             // what is wrong; what to write instead

	excerpt string // its source line and the caret line; "" without a place
	order   int    // of the file
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

// String writes the problem as "file:line:column: key: text".
func (p *Problem) String() string {
	var b strings.Builder
	if b.WriteString(p.File); p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	b.WriteString(p.Text)
	return b.String()
}

// Excerpt returns the problem's source line with a caret line under it, or ""
// when it has no position.
func (p *Problem) Excerpt() string { return p.excerpt }
