package calibrate

import (
	"trainsim/scenarios/measured"
	"trainsim/sim/gpu"
)

// group names parameters that are fitted together, on the measurements that
// they decide.
type group uint8

// The groups, in the order in which they are fitted.
const (
	gemmGroup      group = iota // tiles, launch, waves and splits
	layoutGroup                 // layouts and wide results
	powerGroup                  // the power limit
	forwardGroup                // fused attention of training, forward
	backwardGroup               // fused attention, backward
	prefillGroup                // fused attention of the inference library
	numberOfGroups = iota
)

var groupNames = [...]string{"gemm", "layout", "power", "attention forward", "attention backward", "prefill"}

// String returns the group's name.
func (g group) String() string { return groupNames[g] }

// rows are the measurements that decide a group's parameters.
func (g group) rows(ms []*measured.KernelTime) []*measured.KernelTime {
	var out []*measured.KernelTime
	for _, m := range ms {
		if g.decidedBy(m) {
			out = append(out, m)
		}
	}
	return out
}

// hostBound is how long Python takes to launch a training attention kernel in
// SimuMax's tables, whose shorter rows all lie between 90 and 120 us.
const hostBound = 125e-6

func (g group) decidedBy(m *measured.KernelTime) bool {
	k := &m.Kernels[len(m.Kernels)-1]
	switch g {
	case gemmGroup, powerGroup:
		return k.Kind == gpu.GEMM && k.Batch <= 1
	case layoutGroup:
		return k.Kind == gpu.GEMM && k.Batch <= 1 && k.Layout != gpu.TN
	case forwardGroup:
		return k.Kind == gpu.Attention && !k.Backward && !m.Prefill && m.Seconds > hostBound
	case backwardGroup:
		return k.Kind == gpu.Attention && k.Backward && m.Seconds > hostBound
	}
	return k.Kind == gpu.Attention && m.Prefill
}
