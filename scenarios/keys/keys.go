package keys

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"trainsim/sim/input"
)

// Key documents one key of a scenario or one field of the JSON report.
type Key struct {
	Path    string   // as in "parallel.tp"; report fields as in "bubble.over_total"
	Unit    string   // what a number counts, or how a quantity is written
	Default string   // TOML literal that stands for a missing key; "" when there is none
	Derived string   // where a missing key's value comes from instead
	Values  []string // the words that the key takes, when it takes only some
	Min     float64  // least number; nothing is negative
	Max     float64  // greatest number; 0: no bound of its own
	Text    string   // what it means
}

// DefaultText returns what stands for a missing key, in words.
func (k *Key) DefaultText() string {
	if k.Derived != "" {
		return k.Derived
	}
	return k.Default
}

// Example returns something that may be written for the key.
func (k *Key) Example() string {
	switch {
	case len(k.Values) > 0:
		return input.OneOf(k.Values)
	case k.Unit == boolean:
		return boolean
	case strings.Contains(k.Unit, ` as in "`):
		return k.Unit
	case k.Default != "" && k.Default != `""`:
		return "something like " + k.Default
	case k.Unit != "":
		return "a number (" + k.Unit + ")"
	}
	return "a value that fits (see trainsim explain " + k.Path + ")"
}

// RangeText says which numbers the key takes.
func (k *Key) RangeText() string {
	if k.Max == 0 {
		return "a number of at least " + trimNumber(k.Min)
	}
	return fmt.Sprintf("a number from %s to %s", trimNumber(k.Min), trimNumber(k.Max))
}

func trimNumber(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// scenarioKeys is every key of a scenario, table by table.
var scenarioKeys = slices.Concat(generalKeys, modelKeys, parallelKeys, scheduleKeys, trainingKeys,
	clusterKeys, gpuKeys, ncclKeys, faultKeys, loraKeys, dataKeys, evaluationKeys, frameworkKeys)

var keyIndex = indexKeys(scenarioKeys)

func indexKeys(keys []Key) map[string]int {
	m := make(map[string]int, len(keys))
	for i := range keys {
		m[keys[i].Path] = i
	}
	return m
}

// Find returns the entry of a key; of a key without an entry of its own, as
// the fitted parameters of a device, it returns the entry of its table.
func Find(path string) (Key, bool) {
	path = Plain(path)
	if i, ok := keyIndex[path]; ok {
		return scenarioKeys[i], true
	}
	for parent := path; ; {
		i := strings.LastIndexByte(parent, '.')
		if i < 0 {
			return Key{Path: path}, false
		}
		parent = parent[:i]
		if i, ok := keyIndex[parent]; ok {
			return Key{Path: path, Text: scenarioKeys[i].Text}, false
		}
	}
}

// Plain drops array indices: "gpu.gemm.tiles[2].m" is "gpu.gemm.tiles.m".
func Plain(path string) string {
	for {
		i := strings.IndexByte(path, '[')
		j := strings.IndexByte(path, ']')
		if i < 0 || j < i {
			return path
		}
		path = path[:i] + path[j+1:]
	}
}

// Extra returns the keys of a table that the Config does not hold, because they
// name something that is read in their place.
func Extra(table string) []string { return extraKeys[table] }

var extraKeys = map[string][]string{
	"model":     {"preset", "hf_config"},
	"gpu":       {"preset"},
	"cluster":   {"preset", "gpu", "topology"},
	"schedule":  {"chunks"},
	"framework": {"preset"},
	"host":      {"framework"},
}

// withoutEffect were keys once, in files that people may still have.
var withoutEffect = []string{"gpu.l2_cache", "model.pooler", "model.embedding_width"}

// HadNoEffect reports whether a path was a key once on which nothing depended.
func HadNoEffect(path string) bool { return slices.Contains(withoutEffect, path) }

// Home returns the full path of a key that stands in the wrong table or goes
// by another program's name for it; "" when there is none, or more than one.
func Home(key string) string {
	if home, ok := synonyms[strings.ToLower(strings.ReplaceAll(key, "-", "_"))]; ok {
		return home
	}
	home := ""
	for i := range scenarioKeys {
		p := scenarioKeys[i].Path
		if p == key || strings.HasSuffix(p, "."+key) {
			if home != "" {
				return ""
			}
			home = p
		}
	}
	return home
}

// Canonical folds the other name of a scenario key: schedule.chunks is
// schedule.microbatches.
func Canonical(path string) string {
	if path == "schedule.chunks" {
		return "schedule.microbatches"
	}
	return path
}
