package machines

import (
	"fmt"

	"trainsim/interconnect"
	"trainsim/scenarios"
)

// Words are what people say about a machine.
type Words struct {
	GPU   string // its name, or "not stated"
	Text  string // words about links, cards and the network
	Nodes int
	// PerNode is how many GPUs of a node take part.
	PerNode int
}

// Machine returns the cluster that stands for the machine: the name of a built-in
// one, with the configuration where the words change it; or, for a GPU that is
// not stated or not known here, a configuration made of what the words state.
func (w *Words) Machine() (name string, cfg *interconnect.Config, err error) {
	found, err := findCluster(w.GPU, w.Text, w.Nodes, w.PerNode)
	if err != nil {
		if cfg = w.withCards(); cfg == nil {
			cfg = w.made()
		}
		if cfg == nil {
			return "", nil, err
		}
		return fmt.Sprintf("%s (%s, %d a node)", w.GPU, w.Text, w.PerNode), cfg, nil
	}
	base, _, err := scenarios.LoadCluster(found)
	if err != nil {
		return "", nil, err
	}
	changed := *base
	if !w.state(&changed) {
		return found, nil, nil
	}
	return fmt.Sprintf("%s (%s)", found, w.Text), &changed, nil
}

// withCards is the one-node cluster of a GPU with the cards that the words state,
// for GPUs of which no cluster with a network is built in; nil where they state
// none.
func (w *Words) withCards() *interconnect.Config {
	if w.Nodes < 2 {
		return nil
	}
	found, err := findCluster(w.GPU, w.Text, 1, w.PerNode)
	if err != nil {
		return nil
	}
	base, _, err := scenarios.LoadCluster(found)
	if err != nil {
		return nil
	}
	c := *base
	if !w.state(&c) || c.NICs == 0 {
		return nil
	}
	return &c
}
