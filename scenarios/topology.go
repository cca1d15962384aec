package scenarios

import (
	"strings"

	"trainsim/interconnect"
	"trainsim/interconnect/topo"
	"trainsim/sim/input"
	"trainsim/sim/job"
)

// topology reads the matrix that cluster.topology names, or holds: a text with
// line breaks is the matrix itself, as resolved scenarios have it.
func (l *loader) topology(cfg *job.Config) {
	const key = "cluster.topology"
	n := l.word(l.root.table("cluster"), "cluster", "topology")
	if n == nil {
		return
	}
	text := n.text
	if !strings.Contains(text, "\n") {
		file := l.text(n, key, "the output of nvidia-smi topo -m")
		if file == nil {
			l.dec.bad["cluster"] = true
			return
		}
		text = string(file)
	}
	m, err := topo.Parse(strings.NewReader(text))
	if err != nil {
		l.topologyError(n, text, err)
		return
	}
	cfg.Cluster.Topology = m
	if c := l.root.table("cluster"); c.get("gpus_per_node") != nil && c.get("gpus_per_node").preset {
		c.drop("gpus_per_node") // the matrix knows better than the preset
	}
}

// topologyError reports a matrix that cannot be read at its own line, or at the
// key when it stands in the scenario.
func (l *loader) topologyError(n *node, text string, err error) {
	l.dec.bad["cluster"] = true
	place := input.Each(err)[0]
	if text == n.text || place.Line == 0 {
		l.out.Add(n.at, "cluster.topology", "%v", err)
		return
	}
	l.sources++
	src := &input.Source{Name: l.beside(n), Text: []byte(text), Order: l.sources}
	start := src.Offset(place.Line, 1)
	l.out.Add(src.Span(start, start), "cluster.topology", "%s", place.Text)
}

// topologyNode is the matrix as a value of a resolved scenario.
func topologyNode(m *interconnect.Matrix) *node {
	return &node{kind: stringNode, text: m.String()}
}
