package generation

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

//go:embed *.toml
var files embed.FS

// all returns every generation, by name. The table is part of the program, so
// that a mistake in it is one of the program.
var all = sync.OnceValue(func() []*Generation {
	names, err := files.ReadDir(".")
	if err != nil {
		panic(err)
	}
	out := make([]*Generation, len(names))
	for i, f := range names {
		g := &Generation{Name: strings.TrimSuffix(f.Name(), path.Ext(f.Name()))}
		if err := g.read(g.Name, len(names)); err != nil {
			panic(fmt.Sprintf("GPU generation %s: %v", g.Name, err))
		}
		out[i] = g
	}
	return out
})

// read lays the values of a file over those of the generation that it stands
// on, which may be at most depth deep.
func (g *Generation) read(name string, depth int) error {
	text, err := files.ReadFile(name + ".toml")
	if err != nil {
		return err
	}
	var base struct {
		Name string `toml:"base"`
	}
	if err := toml.Unmarshal(text, &base); err != nil {
		return err
	}
	if base.Name != "" {
		if depth == 0 {
			return fmt.Errorf("base %q: generations stand on each other in a circle", base.Name)
		}
		if err := g.read(base.Name, depth-1); err != nil {
			return fmt.Errorf("base %q: %w", base.Name, err)
		}
	}
	return toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(g)
}
