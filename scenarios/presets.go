package scenarios

import (
	"path/filepath"
	"strings"

	"trainsim/sim/input"
)

// loader is one load of one scenario.
type loader struct {
	out     input.Problems
	dec     decoder
	main    *input.Source
	root    *node
	sources int
	batch   batch
}

func newLoader(main *input.Source) *loader {
	l := &loader{main: main}
	l.dec = decoder{out: &l.out, bad: map[string]bool{}}
	return l
}

// resolve replaces presets, configs and files that the scenario names by what
// is in them, and lays the defaults under the rest.
func (l *loader) resolve() {
	l.aliases()
	l.tables()
	l.preset("model", "models")
	l.imports()
	l.preset("cluster", "clusters")
	l.gpuPreset()
	l.slots()
	l.scheduleFile()
	l.sequenceLengths()
	l.root.layUnder(defaults())
}

// tables makes sure that model, cluster, gpu and schedule are tables, so that
// what follows can put keys into them.
func (l *loader) tables() {
	for _, key := range []string{"model", "gpu", "cluster", "parallel", "schedule", "training", "memory", "host", "nccl"} {
		t := l.root.get(key)
		if t == nil {
			l.root.put(key, newTable(input.Span{}, input.Span{}))
		} else if t.kind != tableNode {
			l.dec.fail(t.at, key, "is %s, not a table; write its keys under [%s]", t.kind, key)
			l.root.put(key, newTable(t.key, t.at))
		}
	}
}

// aliases renames keys that go by two names.
func (l *loader) aliases() {
	s := l.root.table("schedule")
	c := s.get("chunks")
	if c == nil {
		return
	}
	s.drop("chunks")
	if m := s.get("microbatches"); m != nil {
		l.dec.fail(c.key, "schedule.chunks", "is another name for microbatches, which is given too; write one of them")
		return
	}
	s.put("microbatches", c)
}

// word takes a string out of a table: a key that names something to read.
func (l *loader) word(t *node, table, key string) *node {
	n := t.get(key)
	if n == nil {
		return nil
	}
	t.drop(key)
	if n.kind != stringNode && !n.fromSet {
		l.dec.fail(n.at, table+"."+key, "is %s, not a string; write a name in quotes", n.kind)
		return nil
	}
	if strings.TrimSpace(n.text) == "" {
		l.dec.fail(n.at, table+"."+key, "is empty; write a name or leave the key out")
		return nil
	}
	return n
}

// parse reads a further source into a tree.
func (l *loader) parse(src *input.Source) *node {
	l.sources++
	src.Order = l.sources
	return parseTOML(src, &l.out)
}

// gpuPreset lays the device under [gpu]: gpu.preset, or the one that the
// cluster has.
func (l *loader) gpuPreset() {
	cluster, t := l.root.table("cluster"), l.root.table("gpu")
	device := l.word(cluster, "cluster", "gpu")
	if own := l.word(t, "gpu", "preset"); own != nil {
		l.layPreset(t, own, presetRef{"gpu", "gpus", "gpu.preset"})
	} else if device != nil {
		l.layPreset(t, device, presetRef{"gpu", "gpus", "cluster.gpu"})
	}
	if device != nil && t.get("name") == nil {
		t.put("name", device)
	}
}

// beside returns the path of the file that a value names, relative to the file
// in which it stands.
func (l *loader) beside(n *node) string {
	dir := l.main.Dir
	if n.at.Known() && n.at.Src.Dir != "" {
		dir = n.at.Src.Dir
	}
	if filepath.IsAbs(n.text) {
		return n.text
	}
	return filepath.Join(dir, n.text)
}

// text reads the file that a key names.
func (l *loader) text(n *node, key, what string) []byte {
	file := l.beside(n)
	text, err := readFile(file, what)
	if err != nil {
		l.dec.bad[key] = true
		l.dec.fail(n.at, key, "%s: %s", err.Problems[0].File, err.Problems[0].Text)
		return nil
	}
	if bad := notText(text); bad != "" {
		l.dec.fail(n.at, key, "%s: %s", file, bad)
		return nil
	}
	return text
}

// scheduleFile reads the schedule that schedule.file names into schedule.csv.
func (l *loader) scheduleFile() {
	t := l.root.table("schedule")
	file := t.get("file")
	if file == nil || file.kind != stringNode || file.text == "" {
		return
	}
	if t.get("kind") == nil {
		t.put("kind", &node{kind: stringNode, text: "csv", preset: true})
	}
	if t.get("csv") != nil {
		return
	}
	if text := l.text(file, "schedule.file", "a schedule in CSV"); text != nil {
		t.put("csv", &node{kind: stringNode, text: string(text), key: file.key, at: file.at})
	}
}
