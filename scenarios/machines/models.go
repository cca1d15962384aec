package machines

import (
	"sync"

	"trainsim/scenarios"
)

// modelNames are the names of the built-in models.
var modelNames = sync.OnceValue(func() []string {
	entries, err := scenarios.List("models")
	if err != nil {
		return nil
	}
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.Name
	}
	return out
})

// FindModel returns the name of the built-in model preset whose letters and digits
// are those of a name: separators and case do not count. Another name is returned
// as it is.
func FindModel(name string) string {
	for _, known := range modelNames() {
		if shortName(known) == shortName(name) {
			return known
		}
	}
	return name
}
