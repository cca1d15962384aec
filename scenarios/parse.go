package scenarios

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"trainsim/sim/input"
)

const (
	maxFile  = 4 << 20 // bytes of a scenario; real ones have a few thousand
	maxKeys  = 2000    // of a scenario, counting the elements of arrays
	maxDepth = 32      // of arrays and tables inside each other
)

// parser builds the tree of one text.
type parser struct {
	src  *input.Source
	p    unstable.Parser
	out  *input.Problems
	root *node
	keys int
}

// parseTOML reads a text into a tree. Problems go to out; the tree is nil when
// the text is not TOML.
func parseTOML(src *input.Source, out *input.Problems) *node {
	if text := notText(src.Text); text != "" {
		out.AddFile(src, text)
		return nil
	}
	src.Text = bytes.TrimPrefix(src.Text, []byte("\ufeff"))
	p := &parser{src: src, out: out, root: newTable(src.Span(0, 0), src.Span(0, 0))}
	before := out.Len()
	p.run()
	if out.Len() > before {
		return nil
	}
	return p.root
}

// notText says why bytes cannot be a scenario at all, "" when they can.
func notText(b []byte) string {
	switch {
	case len(b) > maxFile:
		return fmt.Sprintf("is larger than %d MiB; a scenario is a small TOML file", maxFile>>20)
	case bytes.IndexByte(b, 0) >= 0 || !utf8.Valid(b):
		return "is not text but binary data; write a TOML file in UTF-8"
	}
	return ""
}

// run walks the top-level expressions. go-toml's own decoder then checks what
// its parser leaves out: numbers, dates, and the rules on redefinition.
func (p *parser) run() {
	p.p.Reset(p.src.Text)
	table := p.root
	for p.p.NextExpression() {
		e := p.p.Expression()
		switch e.Kind {
		case unstable.KeyValue:
			p.keyValue(table, e, 0)
		case unstable.Table:
			table = p.header(e, false)
		case unstable.ArrayTable:
			table = p.header(e, true)
		}
		if p.keys > maxKeys {
			p.out.AddFile(p.src, fmt.Sprintf("has more than %d keys; a scenario has about a hundred", maxKeys))
			return
		}
	}
	if p.syntaxError(p.p.Error()) || p.out.Len() > 0 {
		return
	}
	var all map[string]any
	p.syntaxError(toml.Unmarshal(p.src.Text, &all))
}

// syntaxError reports an error of go-toml at its position.
func (p *parser) syntaxError(err error) bool {
	if err == nil {
		return false
	}
	at := p.src.Span(0, 0)
	text := strings.TrimPrefix(err.Error(), "toml: ")
	var syntax *unstable.ParserError
	var decode *toml.DecodeError
	switch {
	case errors.As(err, &syntax):
		text = syntax.Message
		if len(syntax.Highlight) > 0 {
			r := p.p.Range(syntax.Highlight)
			at = p.span(r)
		}
	case errors.As(err, &decode):
		line, column := decode.Position()
		offset := p.src.Offset(line, column)
		at = p.src.Span(offset, offset)
	}
	text = strings.ReplaceAll(text, "unexpected character U+000A", "the line ends")
	p.out.Add(at, "", "is not TOML: %s; write key = value lines under [table] headers", text)
	return true
}

func (p *parser) span(r unstable.Range) input.Span {
	return p.src.Span(int(r.Offset), int(r.Offset+r.Length))
}

// keyPart is one part of a dotted key.
type keyPart struct {
	name string
	at   input.Span
}

func (p *parser) parts(it unstable.Iterator) []keyPart {
	var out []keyPart
	for it.Next() {
		n := it.Node()
		p.keys++
		out = append(out, keyPart{string(n.Data), p.span(n.Raw)})
	}
	return out
}

// header opens the table of a [header] or the next one of a [[header]].
func (p *parser) header(e *unstable.Node, array bool) *node {
	parts := p.parts(e.Key())
	last := parts[len(parts)-1]
	if len(parts) > maxDepth {
		p.out.Add(last.at, "", "is nested more than %d deep", maxDepth)
		return newTable(last.at, last.at)
	}
	parent := p.descend(p.root, parts[:len(parts)-1])
	old := parent.get(last.name)
	if array {
		item := newTable(last.at, last.at)
		if old == nil || old.kind != arrayNode {
			old = &node{kind: arrayNode, key: last.at, at: last.at}
			parent.put(last.name, old)
		}
		old.items = append(old.items, item)
		return item
	}
	if old == nil || old.kind != tableNode {
		old = newTable(last.at, last.at)
		parent.put(last.name, old)
	}
	return old
}

// descend walks to the table of a dotted key, making what is missing.
func (p *parser) descend(t *node, parts []keyPart) *node {
	for _, part := range parts {
		next := t.get(part.name)
		if next != nil && next.kind == arrayNode && len(next.items) > 0 {
			next = next.items[len(next.items)-1]
		}
		if next == nil || next.kind != tableNode {
			next = newTable(part.at, part.at)
			t.put(part.name, next)
		}
		t = next
	}
	return t
}

// keyValue puts one key = value into a table.
func (p *parser) keyValue(table *node, e *unstable.Node, depth int) {
	parts := p.parts(e.Key())
	last := parts[len(parts)-1]
	if len(parts)+depth > maxDepth {
		p.out.Add(last.at, "", "is nested more than %d deep", maxDepth)
		return
	}
	table = p.descend(table, parts[:len(parts)-1])
	if old := table.get(last.name); old != nil {
		line := 0
		if old.key.Known() {
			line, _ = old.key.Src.Position(old.key.Start)
		}
		p.out.Add(last.at, last.name, "is set twice, first in line %d; write it once", line)
		return
	}
	v := p.value(e.Value(), p.valueStart(last.at), depth+1)
	v.key = last.at
	table.put(last.name, v)
}

// valueStart finds where the value after a key begins, for the kinds of value
// whose range the parser does not record.
func (p *parser) valueStart(key input.Span) input.Span {
	text := p.src.Text
	i := key.End
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '=') {
		i++
	}
	end := i
	for end < len(text) && text[end] != '\n' && text[end] != '\r' && text[end] != '#' {
		end++
	}
	for end > i && (text[end-1] == ' ' || text[end-1] == '\t') {
		end--
	}
	return p.src.Span(i, end)
}

// value turns a node of the parser into one of the tree; where is its place if
// the parser did not record one.
func (p *parser) value(v *unstable.Node, where input.Span, depth int) *node {
	n := &node{at: where}
	if v.Raw.Length > 0 && v.Kind != unstable.InlineTable {
		n.at = p.span(v.Raw)
	}
	n.text = string(v.Data)
	switch v.Kind {
	case unstable.Array:
		p.array(n, v, depth)
	case unstable.InlineTable:
		*n = *newTable(n.at, n.at)
		it := v.Children()
		for it.Next() {
			p.keyValue(n, it.Node(), depth)
		}
	case unstable.String:
		n.kind = stringNode
	case unstable.Bool:
		n.kind, n.bool = boolNode, n.text == "true"
	case unstable.Integer:
		n.kind = intNode
		n.int, _ = strconv.ParseInt(strings.ReplaceAll(n.text, "_", ""), 0, 64)
		n.float = float64(n.int)
	case unstable.Float:
		n.kind, n.float = floatNode, parseFloat(n.text)
	default:
		n.kind = dateNode
	}
	return n
}

func (p *parser) array(n *node, v *unstable.Node, depth int) {
	n.kind = arrayNode
	if depth > maxDepth {
		p.out.Add(n.at, "", "is nested more than %d deep", maxDepth)
		return
	}
	it := v.Children()
	for it.Next() {
		if p.keys++; p.keys > maxKeys {
			return
		}
		n.items = append(n.items, p.value(it.Node(), n.at, depth+1))
	}
}

func parseFloat(text string) float64 {
	f, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	if err != nil {
		return math.Inf(1)
	}
	return f
}
