package timeline

import (
	"trainsim/sim"
	"trainsim/sim/trace"
)

// End is the makespan, or the last sample when no span ended.
func End(r *trace.Recording) sim.Time {
	end := Makespan(r)
	if end > 0 {
		return end
	}
	for _, s := range r.Samples() {
		end = max(end, s.At)
	}
	return end
}

// Makespan is the end of the last span.
func Makespan(r *trace.Recording) sim.Time {
	var end sim.Time
	for s := range r.Spans {
		end = max(end, s.End)
	}
	return end
}
