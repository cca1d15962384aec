package scenarios

import (
	"fmt"
	"strings"
	"sync"

	"trainsim/scenarios/keys"
	"trainsim/sim/input"
)

// defaults is the tree of every default of the key table. It is parsed once and
// copied for each load; its values have no position.
func defaults() *node { return defaultTree().clone() }

var defaultTree = sync.OnceValue(func() *node {
	var b strings.Builder
	for _, k := range keys.Scenario() {
		if k.Default != "" {
			fmt.Fprintf(&b, "%s = %s\n", k.Path, k.Default)
		}
	}
	var out input.Problems
	root := parseTOML(&input.Source{Name: "defaults", Text: []byte(b.String())}, &out)
	if root == nil {
		return newTable(input.Span{}, input.Span{})
	}
	root.mark()
	root.unplace()
	return root
})

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
