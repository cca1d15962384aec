package plots

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"trainsim/sim"
	"trainsim/sim/trace"
)

// phase is a named part of a rank's step, in seconds.
type phase struct {
	name       string
	start, end float64
}

// phasesOf divides a rank's step as its schedule does: warm-up until the first
// backward, steady state until the last forward, cool-down, optimizer. When no
// forward follows a backward, the parts are forward and backward. The optimizer
// begins after the last of both; spans are recorded in the order of their ends.
func phasesOf(r *trace.Recording, rank int) []phase {
	b := bounds{firstB: sim.Forever, firstOpt: sim.Forever}
	for s := range r.Spans {
		if int(s.Lane) >= len(r.Lanes) || s.Lane < 0 {
			continue
		}
		if l := r.Lanes[s.Lane]; l.Rank == rank && l.Stream == trace.Actions {
			b.add(s)
		}
	}
	if b.lastF == 0 || b.firstB == sim.Forever {
		return nil
	}
	return b.phases()
}

// bounds are the instants between phases.
type bounds struct{ lastF, firstB, firstOpt, end sim.Time }

func (b *bounds) add(s *trace.Span) {
	switch s.Kind {
	case trace.Forward:
		b.lastF, b.firstOpt = max(b.lastF, s.End), sim.Forever
	case trace.Backward, trace.BackwardInput, trace.BackwardWeight:
		b.firstB, b.firstOpt = min(b.firstB, s.Start), sim.Forever
	case trace.Optimizer:
		b.firstOpt = min(b.firstOpt, s.Start)
	case trace.Evaluation: // behind the step
		return
	}
	b.end = max(b.end, s.End)
}

func (b *bounds) phases() []phase {
	var out []phase
	add := func(name string, from, to sim.Time) {
		if to > from {
			out = append(out, phase{name, from.Seconds(), to.Seconds()})
		}
	}
	optimizer := min(b.firstOpt, b.end)
	if b.lastF <= b.firstB {
		add("forward", 0, b.firstB)
		add("backward", b.firstB, optimizer)
	} else {
		add("warm-up", 0, b.firstB)
		add("steady state", b.firstB, b.lastF)
		add("cool-down", b.lastF, optimizer)
	}
	add("optimizer", optimizer, b.end)
	return out
}

// draw puts the phase into the strip above the data, with its name where that
// fits.
func (ph phase) draw(c draw.Canvas, t theme, i int, x0, x1 vg.Length) {
	shade := idleGrey
	if i%2 == 1 {
		shade = gridGrey
	}
	y0, y1 := c.Max.Y+t.pt(3), c.Max.Y+t.pt(21)
	fillRect(c, shade, x0, y0, x1, y1)
	sty := t.text(12)
	sty.XAlign, sty.YAlign = draw.XCenter, yMiddle
	if sty.Width(ph.name)+t.pt(4) <= x1-x0 {
		c.FillText(sty, vg.Point{X: (x0 + x1) / 2, Y: (y0 + y1) / 2}, ph.name)
	}
}
