package keys

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/report"
)

// TestEveryKeyIsExplained: each value of a Config has an entry, or its table has
// one; and there is no entry for what is not there.
func TestEveryKeyIsExplained(t *testing.T) {
	held := map[string]bool{}
	for _, path := range paths() {
		held[path] = true
		k, own := Find(path)
		assert.NotEmpty(t, k.Text, path)
		if !strings.HasPrefix(path, "gpu.") && !strings.HasPrefix(path, "cluster.") {
			assert.True(t, own, "%s has no entry of its own", path)
		}
		for ; path != ""; path = path[:max(strings.LastIndexByte(path, '.'), 0)] {
			held[path] = true
		}
	}
	for table, keys := range extraKeys {
		for _, key := range keys {
			held[table+"."+key] = true
		}
	}
	for _, k := range Scenario() {
		assert.True(t, held[k.Path], "%s is explained but is no key", k.Path)
	}
}

// TestEveryReportFieldIsExplained walks the JSON names of the report's types.
func TestEveryReportFieldIsExplained(t *testing.T) {
	fields := map[string]bool{}
	jsonPaths(reflect.TypeFor[report.Report](), "", fields)
	known := map[string]bool{}
	for _, k := range Report() {
		known[k.Path] = true
		assert.True(t, fields[k.Path], "%s is explained but is no field", k.Path)
		assert.True(t, strings.HasSuffix(k.Text, "."), k.Path)
	}
	for path := range fields {
		assert.True(t, known[path], "%s is not explained", path)
	}
}

// jsonPaths collects the paths of a type's JSON fields, arrays without brackets.
func jsonPaths(t reflect.Type, path string, out map[string]bool) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return
	}
	if m, ok := reflect.Zero(t).Interface().(json.Marshaler); ok { // its fields are those that it writes
		text, err := m.MarshalJSON()
		keys := map[string]json.RawMessage{}
		if err != nil || json.Unmarshal(text, &keys) != nil {
			panic(fmt.Sprintf("%v does not marshal to an object: %v", t, err))
		}
		for key := range keys {
			out[Join(path, key)] = true
		}
		return
	}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		full := Join(path, name)
		out[full] = true
		jsonPaths(t.Field(i).Type, full, out)
	}
}

func TestExplain(t *testing.T) {
	k, err := Explain("parallel.tp")
	require.NoError(t, err)
	require.Len(t, k, 1)
	assert.Equal(t, "1", k[0].DefaultText())
	assert.Equal(t, "ranks", k[0].Unit)

	k, err = Explain("recompute")
	require.NoError(t, err)
	assert.Equal(t, "training.recompute", k[0].Path)

	k, err = Explain("time_per_stage[].compute_s")
	require.NoError(t, err)
	assert.Equal(t, "seconds", k[0].Unit)

	k, err = Explain("at_peak.weights")
	require.NoError(t, err)
	assert.Len(t, k, 2, "of memory_per_stage and of oom")

	k, err = Explain("gpu.gemm.tiles[0].m")
	require.NoError(t, err)
	assert.Contains(t, k[0].Text, "matrix products")

	for key, want := range map[string]string{
		"parallel.pt":      `did you mean "parallel.tp"?`,
		"bubble.over_totl": `did you mean "bubble.over_total"?`,
		"microbatchs":      `did you mean "schedule.microbatches"?`,
		"zzzzzzzzzzzz":     "lists them all",
	} {
		_, err := Explain(key)
		assert.ErrorContains(t, err, want, key)
	}
}

func ExampleExplain() {
	keys, err := Explain("schedule.microbatches")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(keys[0].Path, keys[0].Unit, keys[0].DefaultText())
	// Output: schedule.microbatches micro-batches 1
}
