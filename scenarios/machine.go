package scenarios

import (
	"cmp"
	"errors"
	"fmt"

	"trainsim/interconnect"
	"trainsim/sim/gpu"
	"trainsim/sim/input"
	"trainsim/sim/job"
	"trainsim/sim/model"
)

// LoadMachine returns a job of nothing but a cluster preset and the defaults.
// The preset is looked for in a folder, then among the built-in ones.
func LoadMachine(cluster, dir string) (*job.Config, error) {
	return loadPreset("cluster", cluster, dir)
}

// LoadModel reads a model preset. It is looked for in a folder, then among the
// built-in ones.
func LoadModel(name, dir string) (*model.Config, error) {
	cfg, err := loadPreset("model", name, dir)
	if err != nil {
		return nil, err
	}
	return &cfg.Model, nil
}

// LoadGPU reads a device preset: a built-in one by name, or a file.
func LoadGPU(name string) (*gpu.Device, error) {
	l := newLoader(&input.Source{Name: "gpu", Dir: "."})
	l.root = newTable(input.Span{}, input.Span{})
	t := newTable(input.Span{}, input.Span{})
	t.put("preset", &node{kind: stringNode, text: name})
	l.root.put("gpu", t)
	cfg := l.decode()
	if l.out.Len() == 1 && l.out.All()[0].File == "" {
		return nil, problemError(l.out.All()[0])
	}
	if err := l.out.Err(); err != nil {
		return nil, err
	}
	if err := cfg.GPU.Validate(); err != nil {
		return nil, fmt.Errorf("gpu preset %q: %w", name, err)
	}
	return &cfg.GPU, nil
}

// LoadCluster reads a cluster preset, a built-in one by name or a file, with
// the device of its nodes.
func LoadCluster(name string) (*interconnect.Config, *gpu.Device, error) {
	cfg, err := LoadMachine(name, ".")
	if err != nil {
		return nil, nil, err
	}
	c := cfg.Cluster
	c.ComputeCapability = cmp.Or(c.ComputeCapability, cfg.GPU.ComputeCapability)
	return &c, &cfg.GPU, nil
}

// loadPreset returns a Config with nothing but a table's preset and the
// defaults.
func loadPreset(table, name, dir string) (*job.Config, error) {
	l := newLoader(&input.Source{Name: table, Dir: dir})
	l.root = newTable(input.Span{}, input.Span{})
	t := newTable(input.Span{}, input.Span{})
	t.put("preset", &node{kind: stringNode, text: name})
	l.root.put(table, t)
	cfg := l.decode()
	if l.out.Len() > 0 {
		return nil, problemError(l.out.All()[0])
	}
	return cfg, nil
}

// problemError is a problem without its place, which means nothing where no
// scenario names the preset.
func problemError(p input.Problem) error {
	if p.Key == "" {
		return errors.New(p.Text)
	}
	return fmt.Errorf("%s: %s", p.Key, p.Text)
}
