package scenarios

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"trainsim/sim/input"
	"trainsim/sim/job"
)

// checkKey refuses a key that no scenario has, with the nearest one.
func checkKey(path string) error {
	if knownKey(path) {
		return nil
	}
	if home := homeOf(path[strings.LastIndexByte(path, '.')+1:]); home != "" {
		return fmt.Errorf("%s is not a key of a scenario; write %s", path, home)
	}
	var all []string
	for i := range scenarioKeys {
		all = append(all, scenarioKeys[i].Path)
	}
	return fmt.Errorf("%s is not a key of a scenario; %s (trainsim explain lists them)", path, input.DidYouMean(path, all))
}

// knownKey reports whether a scenario may hold a key.
func knownKey(path string) bool {
	t := reflect.TypeFor[job.Config]()
	parent := ""
	for part := range strings.SplitSeq(path, ".") {
		if t.Kind() == reflect.Struct {
			if i := slices.IndexFunc(fieldsOf(t), func(f field) bool { return f.name == part }); i >= 0 {
				t, parent = t.Field(fieldsOf(t)[i].index).Type, join(parent, part)
				continue
			}
		}
		return slices.Contains(extraKeys[parent], part) && join(parent, part) == path
	}
	return true
}
