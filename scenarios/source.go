package scenarios

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// source is one text that took part in a load. order sorts problems: the
// scenario is 0, everything that it names comes after it.
type source struct {
	name  string
	dir   string // where files that it names are looked for; "" for built-in ones
	text  []byte
	order int
}

// span is a piece of a source; the zero span is nowhere.
type span struct {
	src        *source
	start, end int
}

func (s span) known() bool { return s.src != nil }

// position returns the 1-based line and column, in characters, of an offset.
func (s *source) position(offset int) (line, column int) {
	offset = min(offset, len(s.text))
	head := s.text[:offset]
	line = bytes.Count(head, []byte{'\n'}) + 1
	head = head[bytes.LastIndexByte(head, '\n')+1:]
	return line, utf8.RuneCount(head) + 1
}

// line returns the text of the line that holds an offset, without its end.
func (s *source) line(offset int) string {
	offset = min(offset, len(s.text))
	start := bytes.LastIndexByte(s.text[:offset], '\n') + 1
	end := bytes.IndexByte(s.text[offset:], '\n')
	if end < 0 {
		end = len(s.text)
	} else {
		end += offset
	}
	return strings.TrimSuffix(string(s.text[start:end]), "\r")
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

	source string // the line it stands on
	width  int    // characters that the caret underlines
	order  int    // of the file
}

// String writes the problem as "file:line:column: key: text".
func (p *Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	b.WriteString(": ")
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	b.WriteString(p.Text)
	return b.String()
}

// Excerpt returns the problem's source line with a caret line under it, or ""
// when it has no position.
func (p *Problem) Excerpt() string {
	if p.Line == 0 {
		return ""
	}
	text, caret := excerpt(p.source, p.Column, p.width)
	return "    " + text + "\n    " + caret
}
