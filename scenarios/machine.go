package scenarios

import (
	"errors"
	"fmt"

	"trainsim/sim/input"
	"trainsim/sim/job"
	"trainsim/sim/model"
)

// LoadMachine returns a job of nothing but a cluster preset and the defaults.
// The preset is looked for in a folder, then among the built-in ones.
func LoadMachine(cluster, dir string) (*job.Config, error) {
	return loadPreset("cluster", cluster, dir)
}

// LoadModel reads a model preset by its name, in which separators and case do
// not count. It is looked for in a folder, then among the built-in ones.
func LoadModel(name, dir string) (*model.Config, error) {
	cfg, err := loadPreset("model", sameLetters(name, builtinNames("models")), dir)
	if err != nil {
		return nil, err
	}
	return &cfg.Model, nil
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

// sameLetters returns the candidate whose letters and digits are those of the
// name, else the name.
func sameLetters(name string, candidates []string) string {
	for _, c := range candidates {
		if shortName(c) == shortName(name) {
			return c
		}
	}
	return name
}

// problemError is a problem without its place, which means nothing where no
// scenario names the preset.
func problemError(p input.Problem) error {
	if p.Key == "" {
		return errors.New(p.Text)
	}
	return fmt.Errorf("%s: %s", p.Key, p.Text)
}
