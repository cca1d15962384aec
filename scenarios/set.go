package scenarios

import (
	"strings"

	"trainsim/scenarios/keys"
	"trainsim/sim/input"
)

// set applies --set overrides to the tree, later ones over earlier ones. Their
// problems are reported at "--set", where the line is the number of the override.
func (l *loader) set(sets []string) {
	src := &input.Source{Name: "--set", Text: []byte(strings.Join(sets, "\n")), Order: -1, Dir: l.main.Dir}
	start := 0
	for _, text := range sets {
		l.setOne(text, src.Span(start, start+len(text)))
		start += len(text) + 1
	}
}

// setOne applies one override.
func (l *loader) setOne(text string, whole input.Span) {
	key, value, ok := strings.Cut(text, "=")
	path := strings.TrimSpace(key)
	if !ok || path == "" {
		l.out.Add(whole, "", "%s is not key=value; write something like parallel.tp=4", input.Quote(text))
		return
	}
	if strings.TrimSpace(value) == "" {
		l.unset(path)
		return
	}
	middle := whole.Start + len(key)
	n := l.setValue(strings.TrimSpace(value), whole.Src.Span(middle+1, whole.End))
	n.key = whole.Src.Span(whole.Start, middle)
	l.putAt(path, n)
}

// setValue reads a value as TOML does; what is not TOML is a plain string.
func (l *loader) setValue(value string, at input.Span) *node {
	var quiet input.Problems
	if t := parseTOML(&input.Source{Name: "--set", Text: []byte("v = " + value)}, &quiet); t != nil &&
		len(t.keys) == 1 {
		if n := t.get("v"); n != nil {
			n.place(at)
			if n.kind != stringNode && n.kind != tableNode && n.kind != arrayNode {
				n.text = value
			}
			n.fromSet = true
			return n
		}
	}
	return &node{kind: stringNode, text: value, at: at, fromSet: true}
}

// putAt sets the value at a dotted path.
func (l *loader) putAt(path string, value *node) {
	path = keys.Canonical(path)
	l.unset(path)
	parts := strings.Split(path, ".")
	t := l.root
	for _, part := range parts[:len(parts)-1] {
		next := t.get(part)
		if next == nil || next.kind != tableNode {
			next = newTable(value.key, value.key)
			t.put(part, next)
		}
		t = next
	}
	t.put(parts[len(parts)-1], value)
}

// unset takes a key out of the tree, by either of its names.
func (l *loader) unset(path string) {
	if keys.Canonical(path) == "schedule.microbatches" {
		l.root.table("schedule").drop("chunks")
		path = keys.Canonical(path)
	}
	parent, key := l.root, path
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		parent, key = l.root.find(path[:i]), path[i+1:]
	}
	if parent != nil && parent.kind == tableNode {
		parent.drop(key)
	}
}
