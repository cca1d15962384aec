package scenarios

import (
	"io"

	"trainsim/scenarios/keys"
	"trainsim/sim/input"
	"trainsim/sim/job"
)

// Template is the text of a scenario, read once, from which any number of
// variants is made. It may be used from several goroutines.
type Template struct{ main input.Source }

// Open reads the text of a scenario: a file, or a built-in one by name. What is
// wrong with the text itself shows when a variant is made.
func Open(name string) (*Template, error) {
	src, err := openScenario(name)
	if err != nil {
		return nil, err
	}
	return &Template{*src}, nil
}

// OpenReader is [Open] for a stream; name stands for it in messages.
func OpenReader(r io.Reader, name string) (*Template, error) {
	text, err := readAll(r, name, "a scenario")
	if err != nil {
		return nil, err
	}
	return &Template{input.Source{Name: name, Dir: ".", Text: text}}, nil
}

// Load makes a variant: see [LoadWith].
func (t *Template) Load(sets []string) (*job.Config, error) { return t.loader().load(sets) }

// LoadKeeping is [Template.Load] of a variant that keeps a global batch, in
// samples, by cutting it anew: into as many micro-batches as it takes or, where
// fixed names their number, into larger or smaller ones. Fixed are the keys that
// the variant is about; 0 samples keep nothing.
func (t *Template) LoadKeeping(samples int64, fixed, sets []string) (*job.Config, error) {
	l := t.loader()
	l.batch = batch{samples: samples, fixed: map[string]bool{}}
	for _, key := range fixed {
		l.batch.fixed[keys.Canonical(key)] = true
	}
	return l.load(sets)
}

// loader returns a loader with a copy of the source, which keeps notes while
// it is read.
func (t *Template) loader() *loader {
	src := t.main
	return newLoader(&src)
}
