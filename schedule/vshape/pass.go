package vshape

import "trainsim/schedule"

// The passes of a micro-batch through the two chunks of a V, in the order in
// which the micro-batch meets them: down the ranks on chunk 0, up on chunk 1,
// and back. Passes 0 and 2 come from the rank before, 1 and 3 from the one
// after.
const (
	passDown     = iota // F of chunk 0
	passUp              // F of chunk 1
	passBackDown        // I of chunk 1
	passBackUp          // I of chunk 0
	passes
)

// passAction returns the action of a pass.
func passAction(pass, microbatch int) schedule.Action {
	switch pass {
	case passDown:
		return schedule.Forward.At(microbatch, 0)
	case passUp:
		return schedule.Forward.At(microbatch, 1)
	case passBackDown:
		return schedule.BackwardInput.At(microbatch, 1)
	}
	return schedule.BackwardInput.At(microbatch, 0)
}

// passFrom returns the rank that a pass comes from, -1 or p at the ends.
func passFrom(pass, rank int) int {
	if pass%2 == 0 {
		return rank - 1
	}
	return rank + 1
}
