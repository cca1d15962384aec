package scenarios

import (
	"io"
	"path/filepath"
	"reflect"
	"strings"

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
