package search

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/scenarios"
)

func searchOf(t *testing.T, ctx context.Context, scenario, key string) *valueSearch {
	template, err := scenarios.Open(scenario)
	require.NoError(t, err)
	return &valueSearch{ctx: ctx, template: template, key: key}
}

// A pipeline keeps so many micro-batches in flight and no more: the search has
// to end, and to say so, though no number of them is too large.
func TestMemoryDoesNotLimitTheMicrobatches(t *testing.T) {
	s := searchOf(t, context.Background(), "pp4-1f1b-8", "schedule.microbatches")
	l, err := s.find()
	require.NoError(t, err)
	assert.True(t, l.Level)
	assert.LessOrEqual(t, l.Value, 1<<10, "found without long replays")
	assert.Regexp(t, `^Memory does not limit schedule.microbatches: \d+ fits \(\d+ % full\), and more need no more\.$`, l.String())
}

// GPipe holds the activations of all of them, so that there is a largest number.
func TestMemoryLimitsTheMicrobatchesOfGPipe(t *testing.T) {
	s := searchOf(t, context.Background(), "pp4-gpipe-8", "schedule.microbatches")
	l, err := s.find()
	require.NoError(t, err)
	assert.False(t, l.Level)
	_, fits, _, err := s.try(l.Value)
	require.NoError(t, err)
	assert.True(t, fits)
	_, fits, valid, err := s.try(l.Value + 1)
	require.NoError(t, err)
	assert.True(t, valid)
	assert.False(t, fits)
}

func TestTheSearchForTheLargestValueCanBeInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := searchOf(t, ctx, "pp4-1f1b-8", "schedule.microbatches")
	_, err := s.find()
	assert.ErrorIs(t, err, context.Canceled)
}

// More ranks need less memory each: the search over a degree of parallelism
// begins with the most.
func TestMaxOfADegree(t *testing.T) {
	s := searchOf(t, context.Background(), "mixtral-8x7b-ep8", "parallel.ep")
	l, err := s.find()
	require.NoError(t, err)
	assert.Equal(t, 8, l.Value)
}
