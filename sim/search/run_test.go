package search

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/scenarios"
	"trainsim/sim/report"
)

// rowsOf are the results of a store in the order of the points.
func rowsOf(t *testing.T, r *Rows) (out []report.SweepRow) {
	for row, err := range r.All() {
		require.NoError(t, err)
		require.NoError(t, row.Check())
		out = append(out, row)
	}
	return out
}

// The results do not depend on how many points run at a time, or in how many
// parts, and what is there is not simulated again.
func TestGridRunsAreTheSame(t *testing.T) {
	g := grid(t, "pp4-1f1b-8", "schedule.microbatches=2..12+2", "schedule.kind=1f1b,interleaved")
	var one, many Rows
	require.NoError(t, g.Run(context.Background(), &one, Options{Jobs: 1}))
	for i := range 3 {
		require.NoError(t, g.Run(context.Background(), &many, Options{Jobs: 8, Shard: Shard{i, 3}}))
	}
	want := rowsOf(t, &one)
	assert.Len(t, want, g.Len())
	assert.Equal(t, want, rowsOf(t, &many))
	var calls atomic.Int32
	require.NoError(t, g.Run(context.Background(), noMore{&one}, Options{Progress: func(int, int) { calls.Add(1) }}))
	assert.EqualValues(t, g.Len(), calls.Load())
}

// noMore is a store that takes no results.
type noMore struct{ *Rows }

func (noMore) Add(*report.SweepRow) error { return errors.New("full") }

func TestGridStopsWhenTheStoreFails(t *testing.T) {
	g := grid(t, "pp4-1f1b-8", "schedule.microbatches=2,4")
	assert.EqualError(t, g.Run(context.Background(), noMore{&Rows{}}, Options{}), "full")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	assert.ErrorIs(t, g.Run(ctx, &Rows{}, Options{}), context.Canceled)
}

// A point that fails, in whatever way, is a result with its text, and is not tried
// again by itself.
func TestFailuresAreResults(t *testing.T) {
	g := grid(t, "pp4-1f1b-8", "schedule.microbatches=2,4")
	var rows Rows
	require.NoError(t, g.Run(context.Background(), &rows, Options{MaxEvents: 5}))
	for _, row := range rowsOf(t, &rows) {
		assert.Equal(t, report.OutcomeFailed, row.Outcome)
		assert.Contains(t, row.Reason, "event limit reached: 5 events")
	}
	require.NoError(t, g.Run(context.Background(), noMore{&rows}, Options{MaxEvents: 5}))

	g.Template = nil // what resolves a point panics
	rows = Rows{}
	for range 2 {
		require.NoError(t, g.Run(context.Background(), &rows, Options{}))
	}
	for _, row := range rowsOf(t, &rows) {
		assert.Equal(t, report.OutcomeFailed, row.Outcome)
		assert.Contains(t, row.Reason, "internal error: ")
	}
}

// Layouts that fail are counted and kept like others.
func TestFailuresOfLayoutsAreResults(t *testing.T) {
	p := NewPlanner(smallSpace(t))
	var rows Rows
	plan, n, err := p.Plan(context.Background(), &rows, Options{MaxEvents: 5})
	require.NoError(t, err)
	assert.Empty(t, plan.Sizes)
	assert.Greater(t, n.Failed, 10)
	assert.Zero(t, n.Simulated)
	failed := 0
	for _, row := range rowsOf(t, &rows) {
		if row.Outcome == report.OutcomeFailed {
			assert.Contains(t, row.Reason, "event limit reached: 5 events")
			failed++
		}
	}
	assert.Equal(t, n.Failed, failed)
	_, again, err := p.Plan(context.Background(), noMore{&rows}, Options{MaxEvents: 5})
	require.NoError(t, err)
	assert.Equal(t, n, again)
}

// No run of a built-in scenario has a value that a journal would not believe.
func TestRowsOfScenariosAreBelieved(t *testing.T) {
	for _, name := range scenarios.Names() {
		if name == "405b-16k" && testing.Short() {
			continue
		}
		g := grid(t, name, "seed=1")
		var rows Rows
		require.NoError(t, g.Run(context.Background(), &rows, Options{}))
		for _, row := range rowsOf(t, &rows) {
			assert.Contains(t, []string{report.OutcomeOK, report.OutcomeOOM}, row.Outcome, "%s: %s", name, row.Reason)
		}
	}
}
