package scenarios

import "strings"

// set applies --set overrides to the tree, later ones over earlier ones. Their
// problems are reported at "--set", where the line is the number of the override.
func (l *loader) set(sets []string) {
	src := &source{name: "--set", text: []byte(strings.Join(sets, "\n")), order: -1, dir: l.main.dir}
	start := 0
	for _, text := range sets {
		l.setOne(text, span{src, start, start + len(text)})
		start += len(text) + 1
	}
}

// setOne applies one override.
func (l *loader) setOne(text string, whole span) {
	key, value, ok := strings.Cut(text, "=")
	path := strings.TrimSpace(key)
	if !ok || path == "" {
		l.out.add(whole, "", "%q is not key=value; write something like parallel.tp=4", text)
		return
	}
	if strings.TrimSpace(value) == "" {
		l.unset(path)
		return
	}
	middle := whole.start + len(key)
	n := l.setValue(strings.TrimSpace(value), span{whole.src, middle + 1, whole.end})
	n.key = span{whole.src, whole.start, middle}
	l.putAt(path, n)
}

// setValue reads a value as TOML does; what is not TOML is a plain string.
func (l *loader) setValue(value string, at span) *node {
	var quiet collector
	if t := parseTOML(&source{name: "--set", text: []byte("v = " + value)}, &quiet); t != nil && len(t.keys) == 1 {
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

// place moves a whole tree to one place.
func (n *node) place(at span) {
	n.key, n.at = at, at
	for _, k := range n.keys {
		n.sub[k].place(at)
	}
	for _, x := range n.items {
		x.place(at)
	}
}

// canonical folds the other name of a key.
func canonical(path string) string {
	if path == "schedule.chunks" {
		return "schedule.microbatches"
	}
	return path
}

// putAt sets the value at a dotted path.
func (l *loader) putAt(path string, value *node) {
	path = canonical(path)
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
	if canonical(path) == "schedule.microbatches" {
		l.root.table("schedule").drop("chunks")
		path = canonical(path)
	}
	parent, key := l.root, path
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		parent, key = l.root.find(path[:i]), path[i+1:]
	}
	if parent != nil && parent.kind == tableNode {
		parent.drop(key)
	}
}
