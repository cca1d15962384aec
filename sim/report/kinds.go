package report

import (
	"fmt"

	"trainsim/sim/report/quantity"
)

// KindBytes is one part of a peak.
type KindBytes struct {
	Name  string
	Bytes int64
}

// Kinds lists the parts of a peak in the order in which they are shown.
func (p AtPeak) Kinds() []KindBytes {
	return []KindBytes{
		{"weights", p.Weights}, {"gradients", p.Gradients}, {"optimizer state", p.Optimizer},
		{"activations", p.Activations}, {"temporaries", p.Temporaries},
		{"communication buffers", p.CommBuffers}, {"context", p.Context},
	}
}

// Needs says what a rank would need of what there is.
func (o *OOM) Needs() string {
	return needs(o.Needed, o.Outside, o.Capacity, o.Allowed)
}

// needs compares a peak with what there is: the device or, where memory_fraction
// allows less, what PyTorch may reserve, without what lies outside.
func needs(peak, outside, capacity, allowed int64) string {
	if allowed > 0 {
		return fmt.Sprintf("%s reserved of the %s that memory.memory_fraction allows", quantity.GiB(peak-outside),
			quantity.GiB(allowed))
	}
	return fmt.Sprintf("%s of %s", quantity.GiB(peak), quantity.GiB(capacity))
}
