package scenarios

import (
	"fmt"
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

func axes(t *testing.T, texts ...string) (out []Axis) {
	for _, text := range texts {
		a, err := ParseAxis(text)
		require.NoError(t, err)
		out = append(out, a)
	}
	return out
}

func points(t *testing.T, s *Sweep) (out []string) {
	require.NoError(t, s.Prepare())
	for i := range s.Len() {
		out = append(out, strings.Join(s.Values(i), " "))
	}
	return out
}

func TestSweepPoints(t *testing.T) {
	abc := axes(t, "parallel.tp=1,2", "parallel.pp=1,2,4", "schedule.microbatches=8,16")
	assert.Equal(t, []string{"1 1 8", "1 1 16", "1 2 8", "1 2 16", "1 4 8", "1 4 16", "2 1 8", "2 1 16", "2 2 8", "2 2 16", "2 4 8", "2 4 16"},
		points(t, &Sweep{Axes: abc}))
	assert.Equal(t, []string{"1 1 8", "1 2 8", "1 4 8", "2 1 16", "2 2 16", "2 4 16"},
		points(t, &Sweep{Axes: abc, Zip: []string{"parallel.tp", "schedule.chunks"}}))
	all := axes(t, "parallel.tp=1,2,4", "parallel.pp=4,2,1")
	assert.Equal(t, []string{"1 4", "2 2", "4 1"}, points(t, &Sweep{Axes: all, Zip: []string{"parallel.tp", "parallel.pp"}}))
}

func TestSweepRefuses(t *testing.T) {
	tests := []struct {
		sweep Sweep
		want  string
	}{
		{Sweep{}, "nothing varies"},
		{Sweep{Axes: axes(t, "schedule.chunks=1,2", "schedule.microbatches=4")}, "varies twice"},
		{Sweep{Axes: axes(t, "parallel.tp=1,2"), Zip: []string{"parallel.pp"}}, "does not vary"},
		{Sweep{Axes: axes(t, "parallel.tp=1,2", "parallel.pp=1"), Zip: []string{"parallel.tp", "parallel.pp"}}, "as many values each"},
		{Sweep{Axes: axes(t, "parallel.tp=1..9999", "parallel.pp=1..9999")}, "more than"},
	}
	for _, tt := range tests {
		assert.ErrorContains(t, tt.sweep.Prepare(), tt.want)
	}
}

// A global batch that is kept is the same at every point that is valid, and
// whatever cannot be cut so says why.
func TestSweepKeepsTheGlobalBatch(t *testing.T) {
	template, err := Open("70b-tp4-pp2")
	require.NoError(t, err)
	for _, vary := range []string{"schedule.microbatches=1..20", "schedule.microbatch_size=1..6", "parallel.pp=1,2,4,8", "cluster.nodes=2..16*2"} {
		s := &Sweep{Template: template, Axes: axes(t, vary), Batch: 128}
		require.NoError(t, s.Prepare())
		valid := 0
		for i := range s.Len() {
			cfg, err := s.Load(i)
			if err != nil {
				assert.ErrorContains(t, err, "the global batch of 128 samples that is to be kept cannot be cut into", vary)
				continue
			}
			valid++
			assert.EqualValues(t, 128, cfg.Samples(), "%s point %d", vary, i)
		}
		assert.Greater(t, valid, 2, vary)
	}
	s := &Sweep{Template: template, Axes: axes(t, "schedule.microbatches=8,16", "schedule.microbatch_size=1,2"), Batch: 128}
	require.NoError(t, s.Prepare())
	var bad []int
	for i := range s.Len() {
		if _, err := s.Load(i); err != nil {
			bad = append(bad, i)
		}
	}
	assert.Equal(t, []int{0, 3}, bad, "8 x 1 and 16 x 2 on 8 replicas are not 128")
}

// What a point resolves to is what --set makes of the same settings, and
// nothing of one point is left in the next.
func TestSweepPointsAreVariants(t *testing.T) {
	template, err := Open("70b-tp4-pp2")
	require.NoError(t, err)
	s := &Sweep{Template: template, Sets: []string{"seed=7"}, Axes: axes(t, "parallel.pp=1,2", "schedule.microbatches=8,16")}
	require.NoError(t, s.Prepare())
	seen := map[string]bool{}
	for _, i := range []int{3, 0, 2, 1, 3} {
		cfg, err := s.Load(i)
		require.NoError(t, err)
		v := s.Values(i)
		want, err := LoadWith("70b-tp4-pp2", []string{"parallel.dp=", "seed=7", "parallel.pp=" + v[0], "schedule.microbatches=" + v[1]})
		require.NoError(t, err)
		assert.Equal(t, want, cfg)
		seen[Identity(cfg, "1")] = true
		assert.NotEqual(t, Identity(cfg, "1"), Identity(cfg, "2"), "the version is part of the identity")
	}
	assert.Len(t, seen, 4)
}

func TestReason(t *testing.T) {
	_, err := LoadWith("70b-tp4-pp2", []string{"parallel.tp=3"})
	text := Reason(err)
	assert.NotContains(t, text, "\n")
	assert.NotContains(t, text, "--set")
	assert.Contains(t, text, "parallel.tp: ")
	assert.Equal(t, "a; b", Reason(fmt.Errorf("a\nb")))
	assert.NotEqual(t, InvalidIdentity(err, "1"), InvalidIdentity(fmt.Errorf("x"), "1"))
}
