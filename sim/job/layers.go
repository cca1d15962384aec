package job

import (
	"fmt"
)

// SplitLayers returns the number of transformer layers of each of the stages
// (virtual stages counted), in the order of the model.
func (c *Config) SplitLayers(stages int) ([]int, error) {
	layers := c.Model.Depth()
	s := &c.Schedule
	if len(s.LayersPerStage) > 0 {
		return explicitLayers(s.LayersPerStage, stages, layers)
	}
	switch s.FirstLastLayers {
	case "", "even":
		return evenLayers(layers, stages, 0, 0), nil
	case "embedding-balanced":
		return evenLayers(layers, stages, 1, 1), nil
	case "one-fewer-each":
		return oneFewerEach(layers, stages)
	}
	return nil, fmt.Errorf(
		"first_last_layers %q is unknown; write \"even\", \"embedding-balanced\", \"one-fewer-each\", "+
			"\"auto\" or \"auto-memory\", or list layers_per_stage", s.FirstLastLayers,
	)
}

func explicitLayers(list []int, stages, layers int) ([]int, error) {
	if len(list) != stages {
		return nil, fmt.Errorf(
			"layers_per_stage has %d entries for %d stages; write one a (virtual) stage", len(list), stages,
		)
	}
	sum := 0
	for _, n := range list {
		if n < 0 {
			return nil, fmt.Errorf("layers_per_stage has a negative entry %d", n)
		}
		sum += n
	}
	if sum != layers {
		return nil, fmt.Errorf("layers_per_stage adds up to %d layers, but the model has %d", sum, layers)
	}
	return append([]int(nil), list...), nil
}

// evenLayers spreads layers plus the weights of embedding and head (in layers)
// as evenly as it goes, the surplus to the middle stages first, where neither
// the embedding nor the head needs room.
func evenLayers(layers, stages, embedding, head int) []int {
	out := make([]int, stages)
	total := layers + embedding + head
	for i := range out {
		out[i] = total / stages
	}
	for i, rest := 0, total%stages; i < rest; i++ {
		out[1+(i%max(1, stages-1))]++
	}
	if stages == 1 {
		return []int{layers}
	}
	out[0] -= embedding
	out[stages-1] -= head
	return out
}

func oneFewerEach(layers, stages int) ([]int, error) {
	if stages < 2 {
		return []int{layers}, nil
	}
	if (layers+2)%stages != 0 {
		return nil, fmt.Errorf(
			"%d layers cannot be split over %d stages with one fewer on the first and the last: layers + 2 must "+
				"be divisible by the stages", layers, stages,
		)
	}
	return evenLayers(layers, stages, 1, 1), nil
}
