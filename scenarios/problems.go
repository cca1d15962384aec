package scenarios

import (
	"slices"
	"strings"

	"trainsim/scenarios/keys"
	"trainsim/sim/input"
)

// owned reports what the owner of a table says is wrong with it, unless that
// rests on a key that has failed already.
func (l *loader) owned(table string, err error) {
	for _, p := range input.Each(err) {
		failed := func(key string) bool { return l.dec.bad[table+"."+key] }
		if !slices.ContainsFunc(p.Others(), failed) {
			l.problem(strings.TrimSuffix(table+"."+p.Key, "."), nil, "%s", p.Text)
		}
	}
}

// problem reports that the key cannot be as it is, because of the others:
// at the first of them that the user wrote.
func (l *loader) problem(key string, others []string, format string, args ...any) {
	for _, k := range append([]string{key}, others...) {
		if l.dec.isBad(k) {
			return
		}
	}
	l.out.Add(l.place(append([]string{key}, others...)), key, format, args...)
}

// place returns where to point for a problem with some keys: the first that
// stands in the scenario or in a --set; else where a preset says it; else the
// header of its table, in the scenario or a preset; else the start of the scenario.
func (l *loader) place(paths []string) input.Span {
	for _, k := range paths {
		if n := l.root.find(keys.Plain(k)); n != nil && !n.preset && n.at.Known() && n.kind != tableNode {
			return n.at
		}
	}
	for _, k := range paths {
		if n := l.root.find(keys.Plain(k)); n != nil && n.at.Known() && n.kind != tableNode {
			return n.at
		}
	}
	for _, theirs := range []bool{false, true} {
		for _, k := range paths {
			for path := keys.Plain(k); path != ""; path = parentOf(path) {
				if n := l.root.find(path); n != nil && n.key.Known() && n.preset == theirs {
					return n.key
				}
			}
		}
	}
	return l.main.Span(0, 0)
}

func parentOf(path string) string {
	i := strings.LastIndexByte(path, '.')
	return path[:max(i, 0)]
}
