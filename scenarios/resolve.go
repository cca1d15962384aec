package scenarios

import (
	"fmt"
	"strings"
	"sync"

	"trainsim/scenarios/keys"
	"trainsim/sim/input"
)

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
	l.framework()
}

// tables makes sure that model, cluster, gpu and schedule are tables, so that
// what follows can put keys into them.
func (l *loader) tables() {
	for _, key := range []string{"model", "gpu", "cluster", "parallel", "schedule", "training", "memory", "host",
		"framework", "nccl"} {
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
