package model

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/sim"
	"trainsim/sim/input"
)

// Stages with equal layers share one run, whatever the layers before them.
func TestRunsOfEqualLayersAreEqual(t *testing.T) {
	c := mixed(1, 1, 1).Config // one dense layer, three with experts
	assert.Equal(t, []Run{{0, 2, true, false}, {1, 2, false, true}}, c.Split([]int{2, 2}))
	assert.Equal(t, []Run{{0, 1, true, false}, {1, 1, false, false}, {1, 1, false, false}, {1, 1, false, true}}, c.Split([]int{1, 1, 1, 1}))
	c.Layers, c.DenseLayers, c.Bare = 12, 4, true
	assert.Equal(t, []Run{{0, 2, false, false}, {0, 2, false, false}, {4, 2, false, false}, {4, 6, false, false}}, c.Split([]int{2, 2, 2, 6}))
	assert.Equal(t, []Run{{0, 0, false, false}, {0, 3, false, false}, {3, 9, false, false}}, c.Split([]int{0, 3, 9}))
	others, base := c.Kinds()
	assert.Equal(t, []Run{{0, 1, false, false}}, others)
	assert.Equal(t, Run{4, 1, false, false}, base)
	c.Experts = 0
	others, base = c.Kinds()
	assert.Empty(t, others)
	assert.Equal(t, Run{0, 1, false, false}, base)
}

// abc is a family whose layers are letters.
type abc struct{ letters string }

type letter struct {
	block
	name byte
}

func (abc) Problems(*Config) []*input.Problem         { return nil }
func (abc) Misfits(*Config, *Layout) []*input.Problem { return nil }
func (f abc) Stack(*Config) Stack {
	var s Stack
	for i := range f.letters {
		l := letter{name: f.letters[i]}
		if n := len(s.Blocks); n > 0 && s.Blocks[n-1].Layer == l {
			s.Blocks[n-1].Count++
			continue
		}
		s.Blocks = append(s.Blocks, Block{l, 1})
	}
	return s
}

// Whatever the layers, a run is the first of its kind, and the kinds add up.
func TestRunsOfAnyLayers(t *testing.T) {
	rnd := sim.NewRand(1, "letters")
	for seed := range 200 {
		letters := make([]byte, 1+rnd.IntN(20))
		for i := range letters {
			letters[i] = "abc"[rnd.IntN(2+seed%2)]
		}
		f := abc{string(letters)}
		Register("letters", f)
		c := Config{Family: "letters"}
		s := c.stack()
		assert.Equal(t, len(letters), c.Depth())
		for i := range letters {
			assert.Equal(t, letter{name: letters[i]}, s.at(i))
		}
		var split []int
		for left := len(letters); left > 0; {
			n := rnd.IntN(left + 1)
			split = append(split, n)
			left -= n
		}
		first, sum := 0, 0
		kinds, base := c.Kinds()
		kinds = append(kinds, base)
		for _, r := range c.Split(split) {
			run := letters[first : first+r.Layers]
			first += r.Layers
			assert.Equal(t, string(run), string(letters[r.First:r.First+r.Layers]))
			if r.Layers > 0 {
				assert.Equal(t, firstOf(string(letters), string(run)), r.First, fmt.Sprint(string(letters), string(run)))
			}
			for _, k := range kinds {
				sum += c.Count(r, k)
			}
		}
		assert.Equal(t, len(letters), sum)
		assert.Equal(t, letters[len(letters)-1], letters[base.First])
	}
}

func firstOf(all, run string) int {
	for i := range all {
		if len(all) >= i+len(run) && all[i:i+len(run)] == run {
			return i
		}
	}
	return -1
}
