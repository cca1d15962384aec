package scenarios

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkLoad measures a scenario as it ships and texts that are as bad as
// the limits allow.
func BenchmarkLoad(b *testing.B) {
	var keys, comments, array strings.Builder
	for i := range maxKeys - 10 {
		fmt.Fprintf(&keys, "k%d = 1\n", i)
		fmt.Fprintf(&comments, "k%d = 1 # %s\n", i, strings.Repeat("x", 300))
	}
	array.WriteString("[schedule]\nlayers_per_stage = [")
	for range maxKeys - 10 {
		array.WriteString("-1, ")
	}
	array.WriteString("]\n")
	for _, c := range []struct{ name, text string }{
		{"shipped", string(readBuiltin("70b-tp4-pp2.toml"))},
		{"keys", keys.String()},
		{"comments", comments.String()},
		{"array", array.String()},
		{"string", "name = \"" + strings.Repeat("x", maxFile-100) + "\"\ny = 1\n"},
		{"line", strings.Repeat("x", maxFile-100)},
		{"nested", "x = " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000)},
		{"dotted", strings.Repeat("a.", 9000) + "b = 1"},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				_, err := LoadReader(strings.NewReader(c.text), "bench.toml", nil)
				if (err == nil) != (c.name == "shipped") {
					b.Fatal(err)
				}
				if err != nil {
					_ = err.Error()
				}
			}
		})
	}
}
