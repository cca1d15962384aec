package scenarios

import (
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"

	"trainsim/sim/gpu"
)

// WriteGPU writes a device as a preset file that stands on another preset: the
// comment's lines, the name of the base, and what differs from it.
func WriteGPU(w io.Writer, base string, d *gpu.Device, comment []string) error {
	below, err := LoadGPU(base)
	if err != nil {
		return err
	}
	t := treeOf(reflect.ValueOf(*d))
	t.subtract(treeOf(reflect.ValueOf(*below)))
	t.drop("name")
	if err := WritePresetHead(w, base, comment); err != nil {
		return err
	}
	return t.writeTOML(w, "")
}

// WritePresetHead writes the beginning of a preset file that stands on another
// preset: the comment's lines and the name of the base, of a file its full path.
func WritePresetHead(w io.Writer, base string, comment []string) error {
	if isFile(base) {
		if full, err := filepath.Abs(base); err == nil {
			base = full
		}
	}
	for _, line := range comment {
		if _, err := fmt.Fprintf(w, "# %s\n", line); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "preset = %s\n", quote(base))
	return err
}

// subtract takes the keys out of a table that base has with the same value, and
// tables of which nothing is left.
func (n *node) subtract(base *node) {
	for _, k := range slices.Clone(n.keys) {
		ours, theirs := n.sub[k], base.get(k)
		switch {
		case theirs == nil:
		case ours.kind == tableNode && theirs.kind == tableNode:
			if ours.subtract(theirs); len(ours.keys) == 0 {
				n.drop(k)
			}
		case ours.inline() == theirs.inline():
			n.drop(k)
		}
	}
}
