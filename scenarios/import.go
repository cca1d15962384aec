package scenarios

import (
	"reflect"
	"slices"
	"strings"

	"trainsim/scenarios/importers"
	"trainsim/sim/input"
)

// imports lays what files of other programs say under what the scenario says.
func (l *loader) imports() {
	for _, i := range importers.All() {
		l.imported(i)
	}
}

// imported reads the file that an importer's key names.
func (l *loader) imported(i *importers.Importer) {
	table, key, _ := strings.Cut(i.Key, ".")
	n := l.word(l.root.table(table), table, key)
	if n == nil {
		return
	}
	text := l.text(n, i.Key, i.What)
	if text == nil {
		l.dec.bad[table] = true
		return
	}
	l.sources++
	before := l.out.Len()
	said := i.Read(&input.Source{Name: l.beside(n), Text: text, Order: l.sources}, &l.out)
	if l.out.Len() > before {
		l.dec.bad[table] = true
		return
	}
	for _, s := range said {
		tree := treeOf(reflect.ValueOf(s.Value))
		tree.place(n.at)
		tree.mark()
		for _, name := range slices.Backward(strings.Split(s.Key, ".")) {
			around := newTable(n.at, n.at)
			around.put(name, tree)
			tree = around
		}
		l.root.layUnder(tree)
	}
}
