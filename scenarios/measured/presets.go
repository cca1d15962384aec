package measured

import (
	"trainsim/scenarios"
	"trainsim/scenarios/machines"
	"trainsim/sim/job"
	"trainsim/sim/model"
)

// presets caches those that a table names: many rows run on one cluster.
type presets struct {
	dir      string
	clusters map[string]clusterPreset
	models   map[string]modelPreset
}

type clusterPreset struct {
	config *job.Config // with nothing but the preset and the defaults
	err    error
}

type modelPreset struct {
	config *model.Config
	err    error
}

// cluster returns a Config of the cluster with all defaults and no job yet.
func (p *presets) cluster(name string) (*job.Config, error) {
	found, ok := p.clusters[name]
	if !ok {
		found.config, found.err = scenarios.LoadMachine(name, p.dir)
		if p.clusters == nil {
			p.clusters = map[string]clusterPreset{}
		}
		p.clusters[name] = found
	}
	return found.config, found.err
}

// model returns a model preset by its name, in which separators and case do
// not count.
func (p *presets) model(name string) (*model.Config, error) {
	found, ok := p.models[name]
	if !ok {
		found.config, found.err = scenarios.LoadModel(machines.FindModel(name), p.dir)
		if p.models == nil {
			p.models = map[string]modelPreset{}
		}
		p.models[name] = found
	}
	return found.config, found.err
}
