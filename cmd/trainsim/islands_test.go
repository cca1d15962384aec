package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// tokensPerSecond runs a built-in scenario.
func tokensPerSecond(t *testing.T, name string) float64 {
	t.Chdir(t.TempDir())
	var rep struct {
		TokensPerS float64 `json:"tokens_per_s"`
		SamplesPer float64 `json:"samples_per_s"`
		Step       float64 `json:"step_time_s"`
	}
	document(t, &rep, "run", name, "--no-plots")
	assert.InDelta(t, 0, rep.SamplesPer*rep.Step-float64(int(rep.SamplesPer*rep.Step+0.5)), 1e-6, "whole samples")
	return rep.TokensPerS
}

// TestTwoIslandScenarios: over two NVLink islands a flat ring is slowest, the
// hierarchical all-reduce better, and the busy group inside an island best, at
// the same global batch.
func TestTwoIslandScenarios(t *testing.T) {
	flat, apart, placed := tokensPerSecond(t, "two-islands-flat"), tokensPerSecond(t, "two-islands-hierarchical"), tokensPerSecond(t, "two-islands-placed")
	assert.Greater(t, apart, 1.5*flat)
	assert.Greater(t, placed, 1.25*apart)
}

// TestCardScenarios: a card for each GPU beats two that eight share.
func TestCardScenarios(t *testing.T) {
	assert.Greater(t, tokensPerSecond(t, "rails-8nic"), 1.25*tokensPerSecond(t, "shared-2nic"))
}
