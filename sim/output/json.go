package output

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
)

// JSON writes v as one indented document, as encoding/json does, but indents it
// on the way: a report of a large cluster takes a hundred megabytes.
func JSON(w io.Writer, v any) error {
	out := &indenter{w: bufio.NewWriter(w)}
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	return out.w.Flush()
}

// indenter breaks compact JSON into lines.
type indenter struct {
	w       *bufio.Writer
	depth   int
	opened  bool // the last byte opened an object or array
	inside  bool // of a string
	escaped bool
}

// Write passes compact JSON on.
func (n *indenter) Write(text []byte) (int, error) {
	for _, b := range text {
		if n.inside {
			n.string(b)
		} else {
			n.structure(b)
		}
	}
	return len(text), nil // what went wrong, Flush tells
}

func (n *indenter) string(b byte) {
	n.inside = n.escaped || b != '"'
	n.escaped = b == '\\' && !n.escaped
	n.w.WriteByte(b)
}

func (n *indenter) structure(b byte) {
	switch b {
	case '}', ']':
		n.depth--
		if !n.opened {
			n.line()
		}
		n.opened = false
		n.w.WriteByte(b)
		return
	case ',':
		n.w.WriteByte(b)
		n.line()
		return
	case ':':
		n.w.WriteString(": ")
		return
	}
	if n.opened {
		n.line()
	}
	n.w.WriteByte(b)
	n.inside = b == '"'
	n.opened = b == '{' || b == '['
	if n.opened {
		n.depth++
	}
}

const indents = "                                "

func (n *indenter) line() {
	n.w.WriteByte('\n')
	if 2*n.depth <= len(indents) {
		n.w.WriteString(indents[:2*n.depth])
		return
	}
	n.w.WriteString(strings.Repeat("  ", n.depth))
}
