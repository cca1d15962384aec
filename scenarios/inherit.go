package scenarios

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"trainsim/sim/input"
)

// maxPresets is how many presets may stand on each other.
const maxPresets = 8

// presetRef is a place that may name a preset.
type presetRef struct {
	table string // the table that the preset fills, as in "model"
	kind  string // the folder of such presets, as in "models"
	key   string // the key that names it, as in "model.preset"
}

// preset lays the preset that a table names under it.
func (l *loader) preset(table, kind string) {
	t := l.root.table(table)
	if name := l.word(t, table, "preset"); name != nil {
		l.layPreset(t, name, presetRef{table, kind, table + ".preset"})
	}
}

// layPreset lays the preset of a name under a table, and under that the presets
// on which it stands, so that a key has the value of the nearest that gives it.
func (l *loader) layPreset(t, name *node, ref presetRef) {
	from := l.main
	if name.at.Known() && name.at.Src.Dir != "" {
		from = name.at.Src
	}
	var chain []*input.Source
	for name != nil {
		src := l.findBase(name, ref, from, chain)
		if src == nil {
			l.dec.bad[ref.table] = true
			return
		}
		base := l.parse(src)
		if base == nil {
			l.dec.bad[ref.table] = true
			return
		}
		base.mark()
		base.put("name", &node{kind: stringNode, text: presetName(src), preset: true})
		base.drop(publishedRuns)
		if ref.kind != "gpus" {
			base.drop("description")
		}
		if ref.kind == "clusters" {
			base.drop("name")
		}
		ref.key = ref.table + ".preset"
		name = l.word(base, ref.table, "preset")
		if ref.kind == "frameworks" {
			base = l.variants(base)
		}
		t.layUnder(base)
		chain, from = append(chain, src), src
	}
}

// presetName is the name of a preset's file without the ending.
func presetName(src *input.Source) string {
	return strings.TrimSuffix(path.Base(filepath.ToSlash(src.Name)), ".toml")
}

// findBase finds the preset of a name that stands in from, below a chain of
// presets; nil, with the problem reported, when it cannot be taken.
func (l *loader) findBase(name *node, ref presetRef, from *input.Source, chain []*input.Source) *input.Source {
	if len(chain) == maxPresets {
		l.out.Add(name.at, ref.key, "presets stand on each other more than %d deep; name one that stands on fewer",
			maxPresets)
		return nil
	}
	src, err := findPreset(ref.kind, name.text, from)
	switch {
	case err != nil:
		l.out.Adopt(err, name.at)
	case src == nil && len(chain) > 0 && strings.TrimSuffix(name.text, ".toml") == presetName(from):
		l.out.Add(name.at, ref.key, "%s is this file itself; name another preset, or leave the key out and write "+
			"all that it has to say", input.Quote(name.text))
	case src == nil:
		l.out.Add(name.at, ref.key, "there is no %s preset %s; %s (trainsim list %s)",
			strings.TrimSuffix(ref.kind, "s"), input.Quote(name.text),
			input.DidYouMean(name.text, builtinNames(ref.kind)), ref.kind)
	default:
		i := slices.IndexFunc(chain, func(s *input.Source) bool { return s.Name == src.Name })
		if i < 0 {
			return src
		}
		l.out.Add(name.at, ref.key, "presets stand on each other in a circle: %s; name one that does not stand on "+
			"this file", circle(chain[i:]))
	}
	return nil
}

// circle writes the names of presets that stand on each other, the first again
// at the end.
func circle(chain []*input.Source) string {
	var names []string
	for _, src := range chain {
		names = append(names, presetName(src))
	}
	return strings.Join(append(names, names[0]), ", ")
}

// findPreset finds a preset file of a kind ("models", "gpus", "clusters") that
// the file from names: beside that file, beside the scenario, and then among the
// built-in ones. A file is never its own preset, so that one may have the name
// of the built-in preset on which it stands; built-in files stand on built-in
// ones alone.
func findPreset(kind, name string, from *input.Source) (*input.Source, *input.Errors) {
	name = strings.TrimSuffix(name, ".toml")
	for _, file := range presetFiles(kind, name, from) {
		if file == filepath.Clean(from.Name) || !isFile(file) {
			continue
		}
		text, err := readFile(file, "a preset")
		if err != nil {
			return nil, err
		}
		return &input.Source{Name: file, Dir: from.Dir, Home: filepath.Dir(file), Text: text}, nil
	}
	if text := readBuiltin(kind + "/" + name + ".toml"); text != nil && path.Base(name) == name {
		return &input.Source{Name: builtinName(kind + "/" + name + ".toml"), Text: text}, nil
	}
	return nil, nil
}

// presetFiles are the paths at which a preset that a file names may stand.
func presetFiles(kind, name string, from *input.Source) []string {
	if from.Dir == "" {
		return nil
	}
	if filepath.IsAbs(name) {
		return []string{name + ".toml"}
	}
	dirs := []string{from.Dir}
	if from.Home != "" {
		dirs = []string{from.Home, from.Dir}
	}
	var files []string
	for _, dir := range dirs {
		files = append(files, filepath.Join(dir, name+".toml"), filepath.Join(dir, kind, name+".toml"))
	}
	return files
}
