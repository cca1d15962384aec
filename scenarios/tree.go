package scenarios

import (
	"slices"
	"strings"

	"trainsim/sim/input"
)

// nodeKind is the kind of value that a node of the tree holds.
type nodeKind uint8

const (
	tableNode nodeKind = iota
	arrayNode
	stringNode
	boolNode
	intNode
	floatNode
	dateNode // dates and times, which no key takes
)

var nodeKindNames = []string{"a table", "an array", "a string", "a boolean", "an integer", "a number", "a date"}

func (k nodeKind) String() string { return nodeKindNames[k] }

// node is a TOML value that knows where it stands. Tables keep their keys in
// the order of the text.
type node struct {
	kind  nodeKind
	key   input.Span // the key or table header that names it
	at    input.Span // the value
	text  string     // strings: the content; other scalars: as written
	bool  bool
	int   int64
	float float64
	items []*node
	keys  []string
	sub   map[string]*node

	// preset is set on values that come from a preset or default, fromSet on
	// those of --set, where a word without quotes is a string.
	preset, fromSet bool
}

func newTable(key, at input.Span) *node {
	return &node{kind: tableNode, key: key, at: at, sub: map[string]*node{}}
}

// get returns the value of a key, nil when the table has none.
func (n *node) get(key string) *node {
	if n == nil || n.kind != tableNode {
		return nil
	}
	return n.sub[key]
}

// put sets a key.
func (n *node) put(key string, value *node) {
	if _, ok := n.sub[key]; !ok {
		n.keys = append(n.keys, key)
	}
	n.sub[key] = value
}

// drop removes a key.
func (n *node) drop(key string) {
	if _, ok := n.sub[key]; ok {
		delete(n.sub, key)
		n.keys = slices.DeleteFunc(n.keys, func(k string) bool { return k == key })
	}
}

// find returns the value at a dotted path, nil when there is none.
func (n *node) find(path string) *node {
	for part := range strings.SplitSeq(path, ".") {
		if n = n.get(part); n == nil {
			return nil
		}
	}
	return n
}

// table returns the table at a key, an empty one (not put in) when there is none.
func (n *node) table(key string) *node {
	if t := n.get(key); t != nil && t.kind == tableNode {
		return t
	}
	return newTable(input.Span{}, input.Span{})
}

// layUnder gives n every key of base that n does not have, tables key by key.
// The keys of n come first, in their order.
func (n *node) layUnder(base *node) {
	for _, k := range base.keys {
		theirs := base.sub[k]
		ours, ok := n.sub[k]
		switch {
		case !ok:
			n.put(k, theirs.clone())
		case ours.kind == tableNode && theirs.kind == tableNode:
			ours.layUnder(theirs)
		}
	}
}

// clone copies the tables of a tree; scalars and arrays are shared, as they are
// never changed.
func (n *node) clone() *node {
	if n.kind != tableNode {
		return n
	}
	c := *n
	c.keys = slices.Clone(n.keys)
	c.sub = make(map[string]*node, len(n.sub))
	for _, k := range n.keys {
		c.sub[k] = n.sub[k].clone()
	}
	return &c
}

// mark sets preset on a whole tree.
func (n *node) mark() {
	n.preset = true
	for _, k := range n.keys {
		n.sub[k].mark()
	}
	for _, x := range n.items {
		x.mark()
	}
}

// place moves a whole tree to one place.
func (n *node) place(at input.Span) {
	n.key, n.at = at, at
	for _, k := range n.keys {
		n.sub[k].place(at)
	}
	for _, x := range n.items {
		x.place(at)
	}
}

// unplace forgets where a tree stood.
func (n *node) unplace() {
	n.key, n.at = input.Span{}, input.Span{}
	for _, k := range n.keys {
		n.sub[k].unplace()
	}
	for _, x := range n.items {
		x.unplace()
	}
}
