package scenarios

import (
	"bytes"
	"fmt"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// source is one text that took part in a load. order sorts problems: the
// scenario is 0, everything that it names comes after it.
type source struct {
	name  string
	dir   string // where files that it names are looked for; "" for built-in ones
	home  string // the folder of a preset file, where its own preset is looked for first; "" for others
	text  []byte
	order int
	ends  []int // offsets of the line ends, found when first asked for
}

// span is a piece of a source; the zero span is nowhere.
type span struct {
	src        *source
	start, end int
}

func (s span) known() bool { return s.src != nil }

// bounds returns the number from 0 and the offsets of the line that holds an
// offset; the end excludes the line break.
func (s *source) bounds(offset int) (line, start, end int) {
	if s.ends == nil {
		for i, c := range s.text {
			if c == '\n' {
				s.ends = append(s.ends, i)
			}
		}
		s.ends = append(s.ends, len(s.text))
	}
	line = min(sort.SearchInts(s.ends, offset), len(s.ends)-1)
	if line > 0 {
		start = s.ends[line-1] + 1
	}
	return line, start, s.ends[line]
}

// position returns the 1-based line and column, in characters, of an offset.
func (s *source) position(offset int) (line, column int) {
	line, start, end := s.bounds(offset)
	return line + 1, utf8.RuneCount(s.text[start:max(start, min(offset, end))]) + 1
}

// around returns the part of an offset's line that an excerpt can show, and the
// column in it.
func (s *source) around(offset int) (line string, column int) {
	const reach = 4 * maxLine // bytes
	_, start, end := s.bounds(offset)
	offset = max(start, min(offset, end))
	start, end = max(start, offset-reach), min(end, offset+reach)
	head := strings.ToValidUTF8(string(s.text[start:offset]), "")
	return head + strings.TrimSuffix(strings.ToValidUTF8(string(s.text[offset:end]), ""), "\r"), utf8.RuneCountInString(head) + 1
}

// width returns the characters of a span, up to the end of its first line.
func (s *source) width(start, end int) int {
	end = min(end, len(s.text))
	start = min(start, end)
	text, _, _ := bytes.Cut(s.text[start:end], []byte{'\n'})
	return utf8.RuneCount(text)
}

// maxLine is how many characters of a source line an error shows.
const maxLine = 120

// excerpt returns a source line fit for a terminal and the caret line under
// it: control characters become blanks, and of a long line only the part around
// the column is shown.
func excerpt(line string, column, width int) (text, caret string) {
	chars := []rune(line)
	for i, r := range chars {
		if !unicode.IsPrint(r) {
			chars[i] = ' '
		}
	}
	at := min(max(column-1, 0), len(chars))
	if len(strings.TrimSpace(string(chars))) == 0 {
		return "", ""
	}
	if from := max(at-maxLine/2, 0); len(chars) > maxLine {
		chars, at = chars[from:], at-from
		chars = chars[:min(len(chars), maxLine)]
	}
	width = max(min(width, len(chars)-at), 1)
	return string(chars), strings.Repeat(" ", at) + "^" + strings.Repeat("~", width-1)
}

// Problem is one thing that is wrong with a scenario.
type Problem struct {
	File   string `json:"file"`             // path, or the name of what was read
	Line   int    `json:"line,omitempty"`   // from 1; 0 when the problem is with the whole file
	Column int    `json:"column,omitempty"` // from 1, in characters
	Key    string `json:"key,omitempty"`    // full key, as in "parallel.tp"
	Text   string `json:"text"`             // what is wrong; what to write instead

	excerpt string // its source line and the caret line; "" without a place
	order   int    // of the file
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
