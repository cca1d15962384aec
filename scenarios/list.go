package scenarios

import (
	"fmt"
	"path"
	"sort"
	"strings"

	"trainsim/sim/input"
)

// Entry is one built-in file, or one schedule.
type Entry struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// PublishedRuns names the publication whose runs a machine stands for, of which
	// the other users are few: "trainsim validate" finds it by its name in a table.
	PublishedRuns string `json:"published_runs,omitempty"`
}

// listKinds gives the folder of each kind of built-in files.
var listKinds = map[string]string{"scenarios": ".", "models": "models", "gpus": "gpus", "clusters": "clusters",
	"frameworks": "frameworks"}

// ListKinds returns the kinds that [List] knows.
func ListKinds() []string {
	out := make([]string, 0, len(listKinds))
	for k := range listKinds {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// Names returns the names of the built-in scenarios, sorted.
func Names() []string { return builtinNames(".") }

// List returns the built-in "scenarios", "models", "gpus" or "clusters", sorted
// by name, each with what its file says about itself.
func List(kind string) ([]Entry, error) {
	dir, ok := listKinds[kind]
	if !ok {
		return nil, fmt.Errorf("there is nothing of kind %q; %s", kind, input.DidYouMean(kind, ListKinds()))
	}
	var out []Entry
	for _, name := range builtinNames(dir) {
		out = append(out, describe(dir, name))
	}
	return out, nil
}

// describe reads what a built-in file says about itself.
func describe(dir, name string) Entry {
	var out input.Problems
	file := path.Join(dir, name+".toml")
	root := parseTOML(&input.Source{Name: builtinName(file), Text: readBuiltin(file)}, &out)
	e := Entry{Name: name}
	if d := root.get("description"); d != nil {
		e.Description = d.text
	}
	if p := root.get(publishedRuns); p != nil {
		e.PublishedRuns = p.text
	}
	return e
}

// Source returns the text of a built-in file of a kind that [List] knows, a preset
// with all that it takes from those on which it stands.
func Source(kind, name string) ([]byte, error) {
	dir, ok := listKinds[kind]
	if !ok {
		return nil, fmt.Errorf("there is nothing of kind %q; %s", kind, input.DidYouMean(kind, ListKinds()))
	}
	name = strings.TrimSuffix(name, ".toml")
	switch text := readBuiltin(strings.TrimPrefix(dir+"/"+name+".toml", "./")); {
	case text != nil && dir != ".":
		return wholePreset(dir, name), nil
	case text != nil:
		return text, nil
	}
	return nil, fmt.Errorf("there is no %s %q; %s", strings.TrimSuffix(kind, "s"), name,
		input.DidYouMean(name, builtinNames(dir)))
}
