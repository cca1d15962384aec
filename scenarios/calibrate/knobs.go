package calibrate

import (
	"trainsim/sim"
	"trainsim/sim/gpu"
)

// knob is one fitted parameter; set clamps to the range that Validate accepts.
type knob struct {
	get func() float64
	set func(float64)
}

const (
	smallShare = 0.02 // a share that is fitted does not fall below it
	leastTime  = 1e-9 // nor a time, in seconds
)

// number is a knob on plain fields that move together.
func number(lo, hi float64, fields ...*float64) knob {
	return knob{
		get: func() float64 { return min(max(*fields[0], lo), hi) },
		set: func(x float64) {
			for _, f := range fields {
				*f = min(max(x, lo), hi)
			}
		},
	}
}

// duration is a knob on a time, in seconds.
func duration(t *sim.Time) knob {
	return knob{
		get: func() float64 { return max(t.Seconds(), leastTime) },
		set: func(x float64) { *t = sim.FromSeconds(min(max(x, leastTime), 1e3)) },
	}
}

// knobs are a group's parameters on the device.
func (g group) knobs(d *gpu.Device) []knob {
	c := &d.GEMM
	switch g {
	case gemmGroup:
		return append(tileKnobs(c),
			duration(&c.Launch), duration(&c.Setup), duration(&c.Drain),
			number(smallShare, 1, &c.Tail),
			duration(&c.SplitSetup), number(0.01, 10, &c.SplitTraffic), number(0.01, 100, &c.SplitAversion))
	case layoutGroup:
		return []knob{number(smallShare, 1, &c.NN), number(smallShare, 1, &c.NT)}
	case powerGroup:
		return []knob{number(smallShare, 1, &d.Power.FullClock), duration(&d.Power.Patience)}
	case forwardGroup:
		return fusedKnobs(&d.Attention.Forward)[1:]
	case backwardGroup:
		return fusedKnobs(&d.Attention.Backward)[1:]
	}
	return fusedKnobs(&d.Attention.Prefill)
}

// tileKnobs moves the tiles of one area together: a tile and its transpose
// differ in nothing but their names.
func tileKnobs(c *gpu.GEMMCost) []knob {
	var out []knob
	for i := range c.Tiles {
		if first(c.Tiles, i) != i {
			continue
		}
		var efficiencies, preferences []*float64
		for j := i; j < len(c.Tiles); j++ {
			if first(c.Tiles, j) == i {
				efficiencies = append(efficiencies, &c.Tiles[j].Efficiency)
				preferences = append(preferences, &c.Tiles[j].Preference)
			}
		}
		out = append(out, number(smallShare, 1, efficiencies...))
		if i > 0 { // only the ratio of two preferences means anything
			out = append(out, number(0.1, 10, preferences...))
		}
	}
	return out
}

// first returns the first tile with the area of tile i.
func first(tiles []gpu.Tile, i int) int {
	for j := range i {
		if tiles[j].M*tiles[j].N == tiles[i].M*tiles[i].N {
			return j
		}
	}
	return i
}

// fusedKnobs starts with the launch, which only a benchmark without a host in the
// loop measures: the training kernels are launched from Python.
func fusedKnobs(f *gpu.FusedCost) []knob {
	return []knob{
		duration(&f.Launch), duration(&f.Setup), number(smallShare, 1, &f.Tail),
		number(smallShare, 1, &f.Efficiency), number(0.1, 1e4, &f.Score),
	}
}
