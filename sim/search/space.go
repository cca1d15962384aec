package search

import (
	"fmt"
	"slices"
	"strconv"

	"trainsim/scenarios/keys"
	"trainsim/schedule/kinds"
	"trainsim/sim/input"
	"trainsim/sim/job"
)

// Space is what a planner may choose from.
type Space struct {
	Base  *job.Config
	Nodes []int // of the cluster; several for a front over the number of GPUs
	Batch int64 // global batch in samples, which every layout keeps
	Kinds []string
	// Fixed holds the only value of keys that are not to be chosen.
	Fixed           map[string]string
	MinMicrobatches int // the fewest micro-batches of a replica; 0 is one
}

// NewSpace is the space of a job: its cluster and its global batch, under the
// plain and the interleaved schedule.
func NewSpace(base *job.Config) *Space {
	return &Space{Base: base, Nodes: []int{max(base.Cluster.Nodes, 1)}, Batch: base.Samples(),
		Kinds: []string{"1f1b", "interleaved"}}
}

// SetGPUs searches these numbers of GPUs, as many nodes as they take, instead of
// the job's own.
func (s *Space) SetGPUs(counts []int) error {
	perNode := s.Base.Parallel.World() / max(s.Base.Cluster.Nodes, 1)
	s.Nodes = nil
	for _, n := range counts {
		if n < perNode || n%perNode != 0 {
			return fmt.Errorf("%d: the cluster's nodes have %d GPUs; write multiples of that", n, perNode)
		}
		if !slices.Contains(s.Nodes, n/perNode) {
			s.Nodes = append(s.Nodes, n/perNode)
		}
	}
	return nil
}

// Fix lets a key of the layout have one value only. It reports false for a key
// that no layout sets.
func (s *Space) Fix(key, value string) (bool, error) {
	key = keys.Canonical(key)
	if !slices.Contains(planKeys, key) {
		return false, nil
	}
	switch key {
	case "schedule.kind":
		k, err := kinds.Find(value)
		if err != nil {
			return true, err
		}
		s.Kinds, value = []string{k.Name}, k.Name
	case "training.recompute":
		if err := checkWord(key, value); err != nil {
			return true, err
		}
	case "parallel.sequence_parallel":
		if value != "true" && value != "false" {
			return true, fmt.Errorf("%s: %q is not a boolean; write true or false", key, value)
		}
	default:
		if n, err := strconv.Atoi(value); err != nil || n < 0 {
			return true, fmt.Errorf("%s: %q is not a count; write a number", key, value)
		}
	}
	if s.Fixed == nil {
		s.Fixed = map[string]string{}
	}
	s.Fixed[key] = value
	return true, nil
}

// checkWord refuses a word that a key does not take.
func checkWord(key, word string) error {
	known, err := keys.Explain(key)
	if err != nil || slices.Contains(known[0].Values, word) {
		return err
	}
	return fmt.Errorf("%s: %q is not known here; %s", key, word, input.DidYouMean(word, known[0].Values))
}
