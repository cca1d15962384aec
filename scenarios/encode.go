package scenarios

import (
	"encoding"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"trainsim/scenarios/keys"
	"trainsim/sim/input"
)

// treeOf turns a Config, or a part of one, into a tree without positions.
// Empty arrays are left out, as a missing key gives the same.
func treeOf(v reflect.Value) *node {
	if m, ok := v.Interface().(encoding.TextMarshaler); ok {
		text, _ := m.MarshalText()
		return &node{kind: stringNode, text: string(text)}
	}
	n := &node{}
	switch {
	case v.Kind() == reflect.Struct:
		n = newTable(input.Span{}, input.Span{})
		for _, f := range keys.FieldsOf(v.Type()) {
			if x := treeOf(v.Field(f.Index)); x.kind != arrayNode || len(x.items) > 0 {
				n.put(f.Name, x)
			}
		}
	case v.Kind() == reflect.Slice:
		n.kind = arrayNode
		for i := range v.Len() {
			n.items = append(n.items, treeOf(v.Index(i)))
		}
	case v.Kind() == reflect.String:
		n.kind, n.text = stringNode, v.String()
	case v.Kind() == reflect.Bool:
		n.kind, n.bool, n.text = boolNode, v.Bool(), strconv.FormatBool(v.Bool())
	case v.CanInt():
		n.kind, n.int, n.float, n.text = intNode, v.Int(), float64(v.Int()), strconv.FormatInt(v.Int(), 10)
	case v.CanUint():
		n.kind, n.int, n.float, n.text = intNode, int64(v.Uint()), float64(v.Uint()), strconv.FormatUint(v.Uint(), 10)
	case v.CanFloat():
		n.kind, n.float, n.text = floatNode, v.Float(), formatFloat(v.Float())
	}
	return n
}

// formatFloat writes a float so that TOML reads a float.
func formatFloat(x float64) string {
	s := strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.ContainsAny(s, ".") {
		s += ".0"
	}
	return s
}

// plain returns the tree as maps, slices and scalars for encoding/json.
func (n *node) plain() any {
	switch n.kind {
	case tableNode:
		m := make(map[string]any, len(n.keys))
		for _, k := range n.keys {
			m[k] = n.sub[k].plain()
		}
		return m
	case arrayNode:
		list := make([]any, len(n.items))
		for i, x := range n.items {
			list[i] = x.plain()
		}
		return list
	case boolNode:
		return n.bool
	case intNode:
		return n.int
	case floatNode:
		return n.float
	}
	return n.text
}

// writeTOML writes a table: its values, then its tables under headers.
func (n *node) writeTOML(w io.Writer, path string) error {
	if path != "" {
		if _, err := fmt.Fprintf(w, "\n[%s]\n", path); err != nil {
			return err
		}
	}
	for _, k := range n.keys {
		if v := n.sub[k]; v.kind != tableNode {
			if _, err := fmt.Fprintf(w, "%s = %s\n", k, v.inline()); err != nil {
				return err
			}
		}
	}
	for _, k := range n.keys {
		if v := n.sub[k]; v.kind == tableNode {
			if err := v.writeTOML(w, keys.Join(path, k)); err != nil {
				return err
			}
		}
	}
	return nil
}

// inline writes a value as it stands after "=".
func (n *node) inline() string {
	switch n.kind {
	case stringNode:
		return quote(n.text)
	case arrayNode:
		parts := make([]string, len(n.items))
		for i, x := range n.items {
			parts[i] = x.inline()
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case tableNode:
		parts := make([]string, len(n.keys))
		for i, k := range n.keys {
			parts[i] = k + " = " + n.sub[k].inline()
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return n.text
}

// quote writes a TOML string; one with line breaks gets three quotes.
func quote(s string) string {
	open, lines := `"`, strings.Contains(s, "\n")
	if lines {
		open = `"""`
	}
	var b strings.Builder
	b.WriteString(open)
	if lines {
		b.WriteByte('\n')
	}
	for _, r := range s {
		switch {
		case r == '\n' && lines, r == '\t':
			b.WriteRune(r)
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < 0x20 || r == 0x7f || r == utf8.RuneError:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteString(open)
	return b.String()
}
