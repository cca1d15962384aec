package search

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/scenarios"
	"trainsim/sim/report"
)

func axes(t *testing.T, texts ...string) (out []report.Axis) {
	for _, text := range texts {
		a, err := ParseAxis(text)
		require.NoError(t, err)
		out = append(out, a)
	}
	return out
}

func points(t *testing.T, axes []report.Axis, zip ...string) (out []string) {
	g, err := NewGrid(axes, zip)
	require.NoError(t, err)
	for i := range g.Len() {
		out = append(out, strings.Join(g.Values(i), " "))
	}
	return out
}

// grid is a grid over a built-in scenario.
func grid(t *testing.T, name string, vary ...string) *Grid {
	g, err := NewGrid(axes(t, vary...), nil)
	require.NoError(t, err)
	g.Template, err = scenarios.Open(name)
	require.NoError(t, err)
	return g
}

func TestGridPoints(t *testing.T) {
	abc := axes(t, "parallel.tp=1,2", "parallel.pp=1,2,4", "schedule.microbatches=8,16")
	assert.Equal(t, []string{"1 1 8", "1 1 16", "1 2 8", "1 2 16", "1 4 8", "1 4 16", "2 1 8", "2 1 16", "2 2 8", "2 2 16", "2 4 8", "2 4 16"},
		points(t, abc))
	assert.Equal(t, []string{"1 1 8", "1 2 8", "1 4 8", "2 1 16", "2 2 16", "2 4 16"},
		points(t, abc, "parallel.tp", "schedule.chunks"))
	all := axes(t, "parallel.tp=1,2,4", "parallel.pp=4,2,1")
	assert.Equal(t, []string{"1 4", "2 2", "4 1"}, points(t, all, "parallel.tp", "parallel.pp"))
}

func TestGridRefuses(t *testing.T) {
	tests := []struct {
		axes []report.Axis
		zip  []string
		want string
	}{
		{nil, nil, "nothing varies"},
		{axes(t, "schedule.chunks=1,2", "schedule.microbatches=4"), nil, "varies twice"},
		{axes(t, "parallel.tp=1,2"), []string{"parallel.pp"}, "does not vary"},
		{axes(t, "parallel.tp=1,2", "parallel.pp=1"), []string{"parallel.tp", "parallel.pp"}, "as many values each"},
		{axes(t, "parallel.tp=1..9999", "parallel.pp=1..9999"), nil, "more than"},
	}
	for _, tt := range tests {
		_, err := NewGrid(tt.axes, tt.zip)
		assert.ErrorContains(t, err, tt.want)
	}
}

// A global batch that is kept is the same at every point that is valid, and
// whatever cannot be cut so says why.
func TestGridKeepsTheGlobalBatch(t *testing.T) {
	for _, vary := range []string{"schedule.microbatches=1..20", "schedule.microbatch_size=1..6", "parallel.pp=1,2,4,8", "cluster.nodes=2..16*2"} {
		s := grid(t, "70b-tp4-pp2", vary)
		s.Batch = 128
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
	s := grid(t, "70b-tp4-pp2", "schedule.microbatches=8,16", "schedule.microbatch_size=1,2")
	s.Batch = 128
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
func TestGridPointsAreVariants(t *testing.T) {
	s := grid(t, "70b-tp4-pp2", "parallel.pp=1,2", "schedule.microbatches=8,16")
	s.Sets = []string{"seed=7"}
	seen := map[string]bool{}
	for _, i := range []int{3, 0, 2, 1, 3} {
		cfg, err := s.Load(i)
		require.NoError(t, err)
		v := s.Values(i)
		want, err := scenarios.LoadWith("70b-tp4-pp2", []string{"parallel.dp=", "seed=7", "parallel.pp=" + v[0], "schedule.microbatches=" + v[1]})
		require.NoError(t, err)
		assert.Equal(t, want, cfg)
		seen[Identity(cfg)] = true
		assert.NotEqual(t, Identity(cfg), identity(cfg, "2"), "the version is part of the identity")
	}
	assert.Len(t, seen, 4)
}

func TestReason(t *testing.T) {
	_, err := scenarios.LoadWith("70b-tp4-pp2", []string{"parallel.tp=3"})
	text := reason(err)
	assert.NotContains(t, text, "\n")
	assert.NotContains(t, text, "--set")
	assert.Contains(t, text, "parallel.tp: ")
	assert.Equal(t, "a; b", reason(fmt.Errorf("a\nb")))
	assert.NotEqual(t, invalidIdentity(err), invalidIdentity(fmt.Errorf("x")))
}
