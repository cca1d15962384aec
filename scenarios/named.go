package scenarios

import (
	"path/filepath"
	"strings"

	"trainsim/sim/input"
)

// word takes a string out of a table: a key that names something to read.
func (l *loader) word(t *node, table, key string) *node {
	n := t.get(key)
	if n == nil {
		return nil
	}
	t.drop(key)
	if n.kind != stringNode && !n.fromSet {
		l.dec.fail(n.at, table+"."+key, "is %s, not a string; write a name in quotes", n.kind)
		return nil
	}
	if strings.TrimSpace(n.text) == "" {
		l.dec.fail(n.at, table+"."+key, "is empty; write a name or leave the key out")
		return nil
	}
	return n
}

// beside returns the path of the file that a value names, relative to the file
// in which it stands.
func (l *loader) beside(n *node) string {
	dir := l.main.Dir
	if n.at.Known() && n.at.Src.Dir != "" {
		dir = n.at.Src.Dir
	}
	if filepath.IsAbs(n.text) {
		return n.text
	}
	return filepath.Join(dir, n.text)
}

// text reads the file that a key names.
func (l *loader) text(n *node, key, what string) []byte {
	file := l.beside(n)
	text, err := readFile(file, what)
	if err != nil {
		l.dec.bad[key] = true
		l.dec.fail(n.at, key, "%s: %s", err.Problems[0].File, err.Problems[0].Text)
		return nil
	}
	if bad := notText(text); bad != "" {
		l.dec.fail(n.at, key, "%s: %s", file, bad)
		return nil
	}
	return text
}

// parse reads a further source into a tree.
func (l *loader) parse(src *input.Source) *node {
	l.sources++
	src.Order = l.sources
	return parseTOML(src, &l.out)
}
