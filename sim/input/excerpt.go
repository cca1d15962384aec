package input

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

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

// around returns the part of an offset's line that an excerpt can show, and the
// column in it.
func (s *Source) around(offset int) (line string, column int) {
	const reach = 4 * maxLine // bytes
	_, start, end := s.bounds(offset)
	offset = max(start, min(offset, end))
	start, end = max(start, offset-reach), min(end, offset+reach)
	head := strings.ToValidUTF8(string(s.Text[start:offset]), "")
	return head + strings.TrimSuffix(strings.ToValidUTF8(string(s.Text[offset:end]), ""),
		"\r"), utf8.RuneCountInString(head) + 1
}

// width returns the characters of a span, up to the end of its first line.
func (s *Source) width(start, end int) int {
	end = min(end, len(s.Text))
	start = min(start, end)
	text, _, _ := bytes.Cut(s.Text[start:end], []byte{'\n'})
	return utf8.RuneCount(text)
}
