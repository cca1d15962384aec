package input

import (
	"bytes"
	"sort"
	"unicode/utf8"
)

// Source is one text that is read.
type Source struct {
	Name  string // its path, or what stands for it in messages
	Dir   string // where files that it names are looked for; "" for built-in ones
	Home  string // the folder of a preset file, where its own preset is looked for first; "" for others
	Text  []byte
	Order int   // of problems in several sources: the first is 0, what it names comes after it
	ends  []int // offsets of the line ends, found when first asked for
}

// Span is a piece of a source; the zero span is nowhere.
type Span struct {
	Src        *Source
	Start, End int
}

// Span returns a piece of the source, by offsets.
func (s *Source) Span(start, end int) Span { return Span{s, start, end} }

// Known reports whether the span is anywhere.
func (s Span) Known() bool { return s.Src != nil }

// bounds returns the number from 0 and the offsets of the line that holds an
// offset; the end excludes the line break.
func (s *Source) bounds(offset int) (line, start, end int) {
	if s.ends == nil {
		for i, c := range s.Text {
			if c == '\n' {
				s.ends = append(s.ends, i)
			}
		}
		s.ends = append(s.ends, len(s.Text))
	}
	line = min(sort.SearchInts(s.ends, offset), len(s.ends)-1)
	if line > 0 {
		start = s.ends[line-1] + 1
	}
	return line, start, s.ends[line]
}

// Position returns the 1-based line and column, in characters, of an offset.
func (s *Source) Position(offset int) (line, column int) {
	line, start, end := s.bounds(offset)
	return line + 1, utf8.RuneCount(s.Text[start:max(start, min(offset, end))]) + 1
}

// Offset returns the offset of a 1-based line and byte column.
func (s *Source) Offset(line, column int) int {
	offset := 0
	for ; line > 1; line-- {
		i := bytes.IndexByte(s.Text[offset:], '\n')
		if i < 0 {
			break
		}
		offset += i + 1
	}
	return min(offset+max(column-1, 0), len(s.Text))
}
