package scenarios

import (
	"io"
	"path/filepath"
	"reflect"
	"strings"

	"trainsim/scenarios/keys"
	"trainsim/sim/framework"
	"trainsim/sim/input"
	"trainsim/sim/job"
)

// Load reads a scenario: a file, or a built-in one by name with or without
// .toml. The error is an [*input.Errors] with everything that is wrong.
func Load(name string) (*job.Config, error) { return LoadWith(name, nil) }

// LoadWith reads a scenario and then sets keys of it, each given as
// "table.key=value": the value as in the file, where a single word needs no
// quotes. An empty value takes the key out, so that its default holds.
func LoadWith(name string, sets []string) (*job.Config, error) {
	src, err := openScenario(name)
	if err != nil {
		return nil, err
	}
	return newLoader(src).load(sets)
}

// LoadReader reads a scenario from a stream, as from standard input; name
// stands for it in messages. Files that it names are looked for in the working
// directory.
func LoadReader(r io.Reader, name string, sets []string) (*job.Config, error) {
	text, err := readAll(r, name, "a scenario")
	if err != nil {
		return nil, err
	}
	return newLoader(&input.Source{Name: name, Dir: ".", Text: text}).load(sets)
}

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

// loader is one load of one scenario.
type loader struct {
	out     input.Problems
	dec     decoder
	main    *input.Source
	root    *node
	sources int
	batch   batch
	facts   *framework.Facts // of the job, where no scenario says
}

func newLoader(main *input.Source) *loader {
	l := &loader{main: main}
	l.dec = decoder{out: &l.out, bad: map[string]bool{}}
	return l
}

// load takes the main source through all stations.
func (l *loader) load(sets []string) (*job.Config, error) {
	l.root = parseTOML(l.main, &l.out)
	if l.root == nil {
		return nil, l.out.Err()
	}
	l.set(sets)
	cfg := l.decode()
	if cfg.Name == "" {
		cfg.Name = l.defaultName()
	}
	l.complete(cfg)
	l.keepBatch(cfg)
	l.validate(cfg)
	if err := l.out.Err(); err != nil {
		return nil, err
	}
	return cfg, nil
}

// decode resolves what the tree names and fills a Config from it.
func (l *loader) decode() *job.Config {
	l.resolve()
	cfg := &job.Config{}
	l.topology(cfg)
	l.dec.table(reflect.ValueOf(cfg).Elem(), l.root, "")
	return cfg
}

// defaultName is the file's name without its ending.
func (l *loader) defaultName() string {
	base := filepath.Base(l.main.Name)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// Write writes a resolved scenario as TOML, with every preset and default
// written out. It loads back equal.
func Write(w io.Writer, cfg *job.Config) error {
	return resolvedTree(cfg).writeTOML(w, "")
}

// Resolved returns a resolved scenario for the JSON report: the same keys and
// values as [Write], as maps, slices and scalars.
func Resolved(cfg *job.Config) any { return resolvedTree(cfg).plain() }

// resolvedTree is the tree of a whole Config. A matrix that was read from a file
// stands in it itself.
func resolvedTree(cfg *job.Config) *node {
	root := treeOf(reflect.ValueOf(*cfg))
	if m := cfg.Cluster.Topology; m != nil {
		root.get("cluster").put("topology", topologyNode(m))
	}
	return root
}
