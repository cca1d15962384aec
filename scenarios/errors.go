package scenarios

import (
	"fmt"
	"sort"
	"strings"
)

// maxShown is how many problems an error message lists.
const maxShown = 20

// maxKept is how many problems are kept at all.
const maxKept = 500

// Errors is everything that is wrong with a scenario, sorted by position. It is
// the error type of every load that fails, whatever the reason.
type Errors struct {
	Problems []Problem `json:"problems"`
	Dropped  int       `json:"dropped,omitempty"` // further problems, beyond the first 500
}

// Error lists up to 20 problems, each with its source line and a caret.
func (e *Errors) Error() string {
	var b strings.Builder
	for i := range e.Problems {
		if i == maxShown {
			fmt.Fprintf(&b, "... and %d more\n", len(e.Problems)-maxShown+e.Dropped)
			break
		}
		b.WriteString(e.Problems[i].String() + "\n")
		if x := e.Problems[i].Excerpt(); x != "" {
			b.WriteString(x + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// fileError is a problem with a file as a whole.
func fileError(file, format string, args ...any) *Errors {
	return &Errors{Problems: []Problem{{File: file, Text: fmt.Sprintf(format, args...)}}}
}

// shorten cuts the middle out of a text that quotes far too much of its source.
func shorten(s string) string {
	const most = 1000
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most/2], "") + " ... " + strings.ToValidUTF8(s[len(s)-most/2:], "")
}

// collector gathers problems during a load.
type collector struct {
	problems []Problem
	seen     map[string]bool
	dropped  int
}

// add records a problem at a place; the same words at the same place count once.
func (c *collector) add(at span, key, format string, args ...any) {
	if len(c.problems) == maxKept {
		c.dropped++
		return
	}
	p := Problem{Key: shorten(key), Text: shorten(fmt.Sprintf(format, args...))}
	if at.known() {
		p.File, p.order = at.src.name, at.src.order
		p.Line, p.Column = at.src.position(at.start)
		line, column := at.src.around(at.start)
		if text, caret := excerpt(line, column, at.src.width(at.start, at.end)); text != "" {
			p.excerpt = "    " + text + "\n    " + caret
		}
	}
	id := p.String()
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	if !c.seen[id] {
		c.seen[id] = true
		c.problems = append(c.problems, p)
	}
}

// addFile records a problem with a source as a whole.
func (c *collector) addFile(src *source, text string) {
	c.problems = append(c.problems, Problem{File: src.name, Text: text, order: src.order})
}

// adopt takes over the problems of another error about a file that the text at
// a place names.
func (c *collector) adopt(err *Errors, at span) {
	for _, p := range err.Problems {
		if p.Line == 0 {
			c.add(at, p.Key, "%s: %s", p.File, p.Text)
			continue
		}
		p.order = at.src.order + 1
		c.problems = append(c.problems, p)
	}
}

// err returns the problems as an error, nil when there are none.
func (c *collector) err() error {
	if len(c.problems) == 0 {
		return nil
	}
	sort.SliceStable(c.problems, func(i, j int) bool {
		a, b := &c.problems[i], &c.problems[j]
		if a.order != b.order {
			return a.order < b.order
		}
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		return a.Column < b.Column
	})
	return &Errors{Problems: c.problems, Dropped: c.dropped}
}
