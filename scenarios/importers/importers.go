package importers

import (
	"slices"
	"strings"

	"trainsim/sim/input"
)

// Importer reads one kind of file in which another program describes a training
// job or a part of one.
type Importer struct {
	// Name is the program's.
	Name string
	// Key is the key of a scenario that takes the path of such a file, as in
	// "model.hf_config".
	Key string
	// What is how messages call the file, as in "a config.json".
	What string
	// Recognises reports whether a text is such a file.
	Recognises func(text []byte) bool
	// Read returns what the file says. What a scenario cannot say, and what is
	// wrong, goes to out with its place.
	Read func(src *input.Source, out *input.Problems) []Setting
}

// Setting is one thing that a file says: the path of a key of a scenario, or of a
// whole table, with the value that a job's Config holds there.
type Setting struct {
	Key   string
	Value any
}

var all []*Importer

// register adds an importer: its file does so when the program starts.
func register(i *Importer) { all = append(all, i) }

// All returns the importers by their names.
func All() []*Importer {
	return slices.SortedFunc(slices.Values(all), func(a, b *Importer) int { return strings.Compare(a.Name, b.Name) })
}

// Recognise returns the importer of a text, nil where there is none.
func Recognise(text []byte) *Importer {
	for _, i := range All() {
		if i.Recognises(text) {
			return i
		}
	}
	return nil
}

// Parse returns what a text says; the name stands for it in messages. What is
// wrong with it is an [*input.Errors].
func (i *Importer) Parse(name string, text []byte) ([]Setting, error) {
	var out input.Problems
	said := i.Read(&input.Source{Name: name, Text: text}, &out)
	if err := out.Err(); err != nil {
		return nil, err
	}
	return said, nil
}
