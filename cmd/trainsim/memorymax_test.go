package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A pipeline keeps so many micro-batches in flight and no more: the search has
// to end, and to say so, though no number of them is too large.
func TestMemoryDoesNotLimitTheMicrobatches(t *testing.T) {
	s := search{ctx: context.Background(), scenario: "pp4-1f1b-8", key: "schedule.microbatches"}
	l, err := s.largest()
	require.NoError(t, err)
	assert.True(t, l.Level)
	assert.LessOrEqual(t, l.Value, 1<<10, "found without long replays")
	assert.Regexp(t, `^Memory does not limit schedule.microbatches: \d+ fits \(\d+ % full\), and more need no more\.$`, l.String())
}

// GPipe holds the activations of all of them, so that there is a largest number.
func TestMemoryLimitsTheMicrobatchesOfGPipe(t *testing.T) {
	s := search{ctx: context.Background(), scenario: "pp4-gpipe-8", key: "schedule.microbatches"}
	l, err := s.largest()
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
	s := search{ctx: ctx, scenario: "pp4-1f1b-8", key: "schedule.microbatches"}
	_, err := s.largest()
	assert.ErrorIs(t, err, context.Canceled)
}
