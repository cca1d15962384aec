package scenarios

import (
	"strconv"
	"strings"
)

// maxLengths bounds a list of sequence lengths.
const maxLengths = 100_000

// sequenceLengths reads the file that data.lengths_file names into
// data.length_list, and takes a list as the answer to how lengths are drawn.
func (l *loader) sequenceLengths() {
	t := l.root.get("data")
	if t == nil || t.kind != tableNode {
		return
	}
	if file := t.get("lengths_file"); file != nil && file.kind == stringNode && file.text != "" &&
		t.get("length_list") == nil {
		if text := l.text(file, "data.lengths_file", "a file of sequence lengths"); text != nil {
			t.put("length_list", l.lengthList(file, string(text)))
		}
	}
	if list := t.get("length_list"); list != nil && t.get("lengths") == nil && len(list.items) > 0 {
		t.put("lengths", &node{kind: stringNode, text: "list", preset: true})
	}
}

// lengthList parses the file's numbers.
func (l *loader) lengthList(file *node, text string) *node {
	out := &node{kind: arrayNode, key: file.key, at: file.at}
	for _, word := range strings.Fields(text) {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil || len(out.items) == maxLengths {
			l.dec.fail(file.at, "data.lengths_file", "has %.20q as its number %d; write at most %d lengths in "+
				"tokens, separated by blanks or lines", word, len(out.items)+1, maxLengths)
			break
		}
		out.items = append(out.items, &node{kind: intNode, int: n, float: float64(n), text: word, at: file.at})
	}
	return out
}
