package search

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseAxis(t *testing.T) {
	const m = "schedule.microbatches="
	tests := map[string]string{
		m + "4,8,16":                        "4|8|16",
		m + "2..5":                          "2|3|4|5",
		m + "2..64*2":                       "2|4|8|16|32|64",
		m + "1..10*3":                       "1|3|9",
		m + "4..20+8":                       "4|12|20",
		m + "4..19+8,32..64*2":              "4|12|32|64",
		m + " 3 , 7..7 ":                    "3|7",
		"memory.memory_fraction=0.7..1+0.1": "0.7|0.8|0.9|1",
		"memory.memory_fraction=0.1..0.4*2": "0.1|0.2|0.4",
		"gpu.memory=24GiB..96GiB*2":         "24GiB|48GiB|96GiB",
		"gpu.memory=40GiB..80GiB+20":        "40GiB|60GiB|80GiB",
		"gpu.memory=40GiB..80GiB+40GiB":     "40GiB|80GiB",
		"schedule.layers_per_stage=[1,2],[2,1],[1, 2, 3]": "[1,2]|[2,1]|[1, 2, 3]",
		`name="a,b",c`:                    `"a,b"|c`,
		"schedule.file=../a.csv,b..c.csv": "../a.csv|b..c.csv",
		"schedule.kind=1f1b,gpipe":        "1f1b|gpipe",
		"cluster.preset=dgx-h100":         "dgx-h100",
		"schedule.chunks=1,2":             "1|2",
	}
	for text, want := range tests {
		a, err := ParseAxis(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, strings.Join(a.Values, "|"), text)
	}
}

func TestParseAxisSaysWhatToWrite(t *testing.T) {
	const m = "schedule.microbatches="
	tests := map[string]string{
		"":                               "is not key=values; write something like",
		"parallel.tp":                    "is not key=values",
		"=4":                             "is not key=values",
		"parallel.tpp=4":                 `did you mean "parallel.tp"`,
		"tp=4":                           "tp is not a key of a scenario; write parallel.tp",
		m:                                "has an empty value",
		m + "4,,8":                       "has an empty value",
		m + "4,8,":                       "has an empty value",
		m + "4,8,4":                      "4 is there twice",
		m + "2..8*2,8":                   "8 is there twice",
		m + "8..2":                       "runs backwards",
		m + "2..8*1":                     "does not grow",
		m + "0..8*2":                     "starts above 0",
		m + "2..8+0":                     "the step is not positive",
		m + "2..8-1":                     "is not a range",
		m + "2..":                        "is not a range",
		m + "2..8*":                      "is not a range",
		m + "1..100000000":               "too many values",
		"gpu.memory=40GiB..80GB":         "different units",
		"gpu.memory=40GiB..80":           "different units",
		"gpu.memory=40GiB..80GiB*2B":     "another unit",
		`name="a`:                        "does not close it",
		"schedule.layers_per_stage=[1,2": "does not close it",
	}
	for text, want := range tests {
		_, err := ParseAxis(text)
		assert.ErrorContains(t, err, want, text)
	}
}

// FuzzParseAxis: no text makes the parser panic, every value it returns is one
// that it reads back as itself, and there are never more than the bound.
func FuzzParseAxis(f *testing.F) {
	for _, s := range []string{"4,8,16", "2..64*2", "0.5..1+0.25", "24GiB..96GiB*2", "[1,2],[2,1]", `"a,b"`, "1...5", "9..1", "1..1*1.000000000000000001", "-3..3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, list string) {
		a, err := ParseAxis("schedule.microbatches=" + list)
		if err != nil {
			return
		}
		require.NotEmpty(t, a.Values)
		require.LessOrEqual(t, len(a.Values), 2*maxValues)
		if len(a.Values) > 100 {
			a.Values = a.Values[:100]
		}
		again, err := ParseAxis("schedule.microbatches=" + strings.Join(a.Values, ","))
		require.NoError(t, err)
		require.Equal(t, a.Values, again.Values)
	})
}
