package keys

import (
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"

	"trainsim/sim/input"
	"trainsim/sim/job"
)

// explained is every key that can be looked up: of scenarios and of reports.
var explained = slices.Concat(scenarioKeys, reportKeys, under("memory_per_stage", atPeakKeys),
	under("oom", atPeakKeys))

// under puts keys below a path.
func under(path string, keys []Key) []Key {
	out := slices.Clone(keys)
	for i := range out {
		out[i].Path = path + "." + out[i].Path
	}
	return out
}

// Scenario returns every key of a scenario, table by table.
func Scenario() []Key { return slices.Clone(scenarioKeys) }

// Report returns every field of the JSON report.
func Report() []Key { return slices.Clone(explained[len(scenarioKeys):]) }

// Explain returns the entries for a scenario key or a report field: its full
// path, or the end of one, which may fit several. The error of an unknown key
// names the nearest one.
func Explain(key string) ([]Key, error) {
	want := Plain(strings.TrimSpace(key))
	var exact, ends []Key
	for _, k := range explained {
		switch {
		case k.Path == want:
			exact = append(exact, k)
		case strings.HasSuffix(k.Path, "."+want):
			ends = append(ends, k)
		}
	}
	switch {
	case len(exact) > 0:
		return exact, nil
	case len(ends) > 0:
		return ends, nil
	}
	if k, ok := fromStruct(want); ok {
		return []Key{k}, nil
	}
	return nil, fmt.Errorf("%q is no scenario key and no report field; %s", key, nearestKey(want))
}

// Full returns the path of a scenario key that is given without its table, as
// in microbatch_size; anything else as it is.
func Full(key string) string {
	if strings.Contains(key, ".") {
		return key
	}
	if home := Home(key); home != "" {
		return home
	}
	return key
}

// Check refuses a key that no scenario has, with the nearest one.
func Check(path string) error {
	if knownKey(path) {
		return nil
	}
	if home := Home(path[strings.LastIndexByte(path, '.')+1:]); home != "" {
		return fmt.Errorf("%s is not a key of a scenario; write %s", path, home)
	}
	var all []string
	for i := range scenarioKeys {
		all = append(all, scenarioKeys[i].Path)
	}
	return fmt.Errorf("%s is not a key of a scenario; %s (trainsim explain lists them)", path,
		input.DidYouMean(path, all))
}

// knownKey reports whether a scenario may hold a key.
func knownKey(path string) bool {
	t := reflect.TypeFor[job.Config]()
	parent := ""
	for part := range strings.SplitSeq(path, ".") {
		if t.Kind() == reflect.Struct {
			if i := slices.IndexFunc(FieldsOf(t), func(f Field) bool { return f.Name == part }); i >= 0 {
				t, parent = t.Field(FieldsOf(t)[i].Index).Type, Join(parent, part)
				continue
			}
		}
		return slices.Contains(extraKeys[parent], part) && Join(parent, part) == path
	}
	return true
}

// fromStruct explains a key of a device or cluster that has no entry of its
// own, as fitted parameters, by its table's entry.
func fromStruct(path string) (Key, bool) {
	if !slices.Contains(paths(), path) {
		return Key{}, false
	}
	k, _ := Find(path)
	return k, k.Text != ""
}

// nearestKey suggests a key for a misspelt one: of its table when the table is
// right, else by the last part or the whole path.
func nearestKey(want string) string {
	if home := Home(want[strings.LastIndexByte(want, '.')+1:]); home != "" {
		return fmt.Sprintf("did you mean %q?", home)
	}
	byEnd := map[string]string{}
	var ends, paths []string
	for _, k := range explained {
		end := k.Path[strings.LastIndexByte(k.Path, '.')+1:]
		if _, ok := byEnd[end]; !ok {
			byEnd[end] = k.Path
			ends = append(ends, end)
		}
		paths = append(paths, k.Path)
	}
	sort.Strings(ends)
	if n := input.Nearest(want, paths); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	if n := input.Nearest(want[strings.LastIndexByte(want, '.')+1:], ends); n != "" {
		return fmt.Sprintf("did you mean %q?", byEnd[n])
	}
	return "trainsim explain without a key lists them all"
}
