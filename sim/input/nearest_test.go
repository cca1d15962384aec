package input

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNearest(t *testing.T) {
	keys := []string{"microbatches", "microbatch_size", "kind", "virtual_stages", "tp", "pp"}
	for word, want := range map[string]string{
		"microbatchs": "microbatches", "micro_batches": "microbatches", "microbatchsize": "microbatch_size", "knid": "kind",
		"virtual": "virtual_stages", "Kind": "kind", "tpp": "tp", "x": "", "overlap": "", "": "",
	} {
		assert.Equal(t, want, Nearest(word, keys), word)
	}
}

// TestNearestHolds: what somebody calls a device or model is in the preset's name.
func TestNearestHolds(t *testing.T) {
	names := []string{"rtx4090-24gb", "rtx3090-24gb", "a100-sxm4-80gb", "llama-3-8b", "llama-3-70b"}
	for word, want := range map[string]string{
		"rtx-4090": "rtx4090-24gb", "4090": "rtx4090-24gb", "RTX_3090": "rtx3090-24gb", "70b": "llama-3-70b", "tpu": "", "8": "",
	} {
		assert.Equal(t, want, Nearest(word, names), word)
	}
}

// TestDistance: a metric on short words, against the recursive definition.
func TestDistance(t *testing.T) {
	words := []string{"", "a", "b", "ab", "ba", "abc", "acb", "cab", "abcd", "bacd"}
	for _, a := range words {
		for _, b := range words {
			assert.Equal(t, slowDistance(a, b), distance(a, b), "%q %q", a, b)
			assert.Equal(t, distance(a, b), distance(b, a))
		}
	}
}

func slowDistance(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	i, j := len(a)-1, len(b)-1
	cost := 1
	if a[i] == b[j] {
		cost = 0
	}
	d := min(slowDistance(a[:i], b)+1, slowDistance(a, b[:j])+1, slowDistance(a[:i], b[:j])+cost)
	if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
		d = min(d, slowDistance(a[:i-1], b[:j-1])+1)
	}
	return d
}
