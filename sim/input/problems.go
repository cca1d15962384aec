package input

import (
	"fmt"
	"sort"
	"strings"
)

// maxKept is how many problems are kept at all.
const maxKept = 500

// Problems gathers what is wrong with the texts that are read together.
type Problems struct {
	list    []Problem
	seen    map[string]bool
	dropped int
}

// Add records a problem at a place; the same words at the same place count once.
func (p *Problems) Add(at Span, key, format string, args ...any) {
	if len(p.list) == maxKept {
		p.dropped++
		return
	}
	found := Problem{Key: shorten(key), Text: shorten(fmt.Sprintf(format, args...))}
	if at.Known() {
		found.stand(at)
	}
	id := found.String()
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	if !p.seen[id] {
		p.seen[id] = true
		p.list = append(p.list, found)
	}
}

// AddFile records a problem with a source as a whole.
func (p *Problems) AddFile(src *Source, text string) {
	p.list = append(p.list, Problem{File: src.Name, Text: text, order: src.Order})
}

// Adopt takes over the problems of another error about a file that the text at
// a place names.
func (p *Problems) Adopt(err *Errors, at Span) {
	for _, theirs := range err.Problems {
		if theirs.Line == 0 {
			p.Add(at, theirs.Key, "%s: %s", theirs.File, theirs.Text)
			continue
		}
		theirs.order = at.Src.Order + 1
		p.list = append(p.list, theirs)
	}
}

// Len returns how many problems there are so far.
func (p *Problems) Len() int { return len(p.list) }

// All returns the problems so far, in the order in which they were found.
func (p *Problems) All() []Problem { return p.list }

// Err returns the problems as an error, nil when there are none.
func (p *Problems) Err() error {
	if len(p.list) == 0 {
		return nil
	}
	sort.SliceStable(p.list, func(i, j int) bool {
		a, b := &p.list[i], &p.list[j]
		if a.order != b.order {
			return a.order < b.order
		}
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		return a.Column < b.Column
	})
	return &Errors{Problems: p.list, Dropped: p.dropped}
}

// shorten cuts the middle out of a text that quotes far too much of its source.
func shorten(s string) string {
	const most = 1000
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most/2], "") + " ... " + strings.ToValidUTF8(s[len(s)-most/2:], "")
}
