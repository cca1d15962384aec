package plots

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"trainsim/sim"
	"trainsim/sim/report"
	"trainsim/sim/trace"
)

var errNoMemory = errors.New("plots: the recording has no memory counters to draw")

// Memory draws the memory of the fullest rank over the step: allocated bytes
// stacked by kind, what the caching allocator reserves, and the capacity, with
// the phases of the rank's schedule above. A recording without memory counters
// is an error.
func Memory(r *trace.Recording, rep *report.Report, o Options) (*Figure, error) {
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
	m, err := memoryOf(r, rep)
	if err != nil {
		return nil, err
	}
	return newFigure(o, page{
		title:    o.title(rep, fmt.Sprintf("memory of rank %d (stage %d), the fullest", m.rank, m.stage)),
		subtitle: m.facts(rep),
		legend:   m.legend(),
		body:     m.body,
	}), nil
}

// memory is one rank's memory over time. Slots of levels are memoryStyles,
// other kinds, and what the allocator reserves.
type memory struct {
	levels
	rank, stage  int
	capacity     float64
	peak         float64            // largest of the stack
	stated       float64            // the report's peak, which has what lies outside the allocator in it
	peakReserved float64            // largest of the reserved line
	present      [reservedSlot]bool // whether the kind can be seen
	phases       []phase
	rep          *report.Report
	allowed      float64 // to the allocator, 0 where the device limits it
	oom          float64 // when memory ran out; negative if it did not
}

const (
	otherSlot    = 7 // after the kinds of memoryStyles
	reservedSlot = 8
	memorySlots  = 9
	outsideKinds = 2 // context and communication buffers: not the allocator's
)

func memoryOf(r *trace.Recording, rep *report.Report) (*memory, error) {
	rank, ok := fullestRank(r)
	end := recordingEnd(r)
	if !ok || end <= 0 {
		return nil, errNoMemory
	}
	m := &memory{rank: rank, oom: -1}
	slot := make([]int, len(r.Counters))
	for i, c := range r.Counters {
		slot[i] = -1
		if c.Rank != rank || c.Kind == trace.LinkRate {
			continue
		}
		m.stage = c.Stage
		m.capacity = max(m.capacity, c.Limit)
		slot[i] = reservedSlot
		if c.Kind == trace.MemoryByKind {
			slot[i] = memoryIndex(c.Name)
		}
	}
	m.levels = peaks(r, slot, memorySlots, reservedSlot, end)
	m.summarise()
	m.phases, m.rep = runPhases(rep, phasesOf(r, rank)), rep
	m.fromReport(rep)
	return m, nil
}

// fromReport takes the capacity, the out-of-memory instant and the peak: that of
// the report counts what is there for an instant, between an allocation and the
// free behind it, or after the step, and which has no width on the axis.
func (m *memory) fromReport(rep *report.Report) {
	if rep == nil {
		return
	}
	for _, s := range rep.MemoryPerStage {
		if s.Stage == m.stage && s.Capacity > 0 {
			m.capacity = float64(s.Capacity)
		}
		if s.Stage == m.stage && s.Allowed > 0 {
			m.allowed = float64(s.Allowed)
			m.capacity = float64(s.Allowed + s.NvidiaSMI - s.PeakReserved)
		}
		if s.Stage == m.stage && s.Rank == m.rank {
			m.stated = max(m.stated, float64(s.PeakAllocated+s.NvidiaSMI-s.PeakReserved))
		}
	}
	if rep.OOM != nil && rep.OOM.Rank == m.rank {
		m.oom = rep.OOM.At
	}
}

// summarise lifts the reserved line by what lies outside the allocator, so
// that it compares with the capacity, and finds the peaks.
func (m *memory) summarise() {
	for col := range columns {
		outside, total := 0.0, 0.0
		for s := range reservedSlot {
			v := m.value[s][col]
			total += v
			if s < outsideKinds {
				outside += v
			}
		}
		m.peak = max(m.peak, total)
		if m.value[reservedSlot][col] > 0 {
			m.value[reservedSlot][col] += outside
		}
		m.peakReserved = max(m.peakReserved, m.value[reservedSlot][col])
	}
	for s := range reservedSlot {
		m.present[s] = slices.Max(m.value[s]) > m.peak/visible
	}
}

// recordingEnd is the makespan, or the last sample when no span ended.
func recordingEnd(r *trace.Recording) sim.Time {
	end := makespan(r)
	if end > 0 {
		return end
	}
	for _, s := range r.Samples() {
		end = max(end, s.At)
	}
	return end
}

func (m *memory) facts(rep *report.Report) string {
	var reserved, capacity, oom string
	if m.peakReserved > 0 {
		reserved = "reserved up to " + gibibytes(m.peakReserved)
	}
	if m.capacity > 0 {
		capacity = "capacity " + gibibytes(m.capacity)
		if m.allowed > 0 {
			capacity = gibibytes(m.allowed) + " allowed to the allocator"
		}
		if !m.showsCapacity() {
			capacity += " (above the axis)"
		}
	}
	if m.oom >= 0 {
		oom = "OUT OF MEMORY at " + seconds(m.oom)
		if rep.OOM.Needed > 0 {
			oom += ": the step needs " + gibibytes(float64(rep.OOM.Needed))
		}
	}
	return facts(oom, "peak "+gibibytes(max(m.peak, m.stated)), reserved, capacity)
}

// showsCapacity says whether the capacity line is near enough to leave the
// stack legible.
func (m *memory) showsCapacity() bool {
	return m.capacity > 0 && m.capacity <= 5*max(m.peak, m.peakReserved)
}

func (m *memory) legend() []entry {
	var out []entry
	for i, s := range memoryStyles {
		if m.present[i] {
			out = append(out, entry{label: s.label, color: s.color})
		}
	}
	if m.present[otherSlot] {
		out = append(out, entry{label: otherMemory.label, color: otherMemory.color})
	}
	if m.peakReserved > 0 {
		out = append(out, entry{label: "reserved by the allocator, with what lies outside it", color: ink, mark: markDashes})
	}
	if m.showsCapacity() {
		label := "capacity of the GPU"
		if m.allowed > 0 {
			label = "allowed by memory_fraction, with what lies outside the allocator"
		}
		out = append(out, entry{label: label, color: capacityColor, mark: markLine})
	}
	if m.oom >= 0 {
		out = append(out, entry{label: "out of memory", color: vermillion, mark: markLine})
	}
	return out
}

var capacityColor = black

func (m *memory) body(c draw.Canvas, t theme) {
	strip := vg.Length(0)
	if len(m.phases) > 0 {
		strip = t.pt(24)
	}
	u := timeUnit(m.end.Seconds())
	top := max(m.peak, m.peakReserved)
	if m.showsCapacity() {
		top = max(top, m.capacity)
	}
	b := pick(byteUnits, top)
	p := t.axes(timeLabel(m.rep, u.name), "memory ("+b.name+")")
	p.X.Min, p.X.Max = 0, m.end.Seconds()
	p.Y.Min, p.Y.Max = 0, top*1.05
	p.X.Tick.Marker = linearTicks(p.X.Max, u, 10)
	p.Y.Tick.Marker = linearTicks(p.Y.Max, b, 8)
	p.Add(t.grid(false, true), plotFunc(m.drawStack), plotFunc(func(c draw.Canvas, p *plot.Plot) { m.drawLines(c, p, t) }))
	p.Draw(draw.Crop(c, 0, -t.pt(14), 0, -strip))
}

// drawStack paints the whole stack in the colour of its top kind, then all but
// the top, and so on: no seams between neighbours.
func (m *memory) drawStack(c draw.Canvas, p *plot.Plot) {
	sum := make([]float64, columns)
	sums := make([][]float64, reservedSlot)
	for s := range reservedSlot {
		for i, v := range m.value[s] {
			sum[i] += v
		}
		sums[s] = append([]float64(nil), sum...)
	}
	for s := reservedSlot - 1; s >= 0; s-- {
		if !m.present[s] {
			continue
		}
		col := otherMemory.color
		if s < len(memoryStyles) {
			col = memoryStyles[s].color
		}
		pts := outline(sums[s], c, p, m.end.Seconds())
		base := c.Min.Y
		pts = append(pts, vg.Point{X: pts[len(pts)-1].X, Y: base}, vg.Point{X: pts[0].X, Y: base})
		c.FillPolygon(col, pts)
	}
}

func (m *memory) drawLines(c draw.Canvas, p *plot.Plot, t theme) {
	for i, ph := range m.phases {
		x0, x1 := c.X(p.X.Norm(ph.start)), c.X(p.X.Norm(ph.end))
		if i > 0 {
			c.StrokeLine2(draw.LineStyle{Color: softInk, Width: t.pt(0.8), Dashes: []vg.Length{t.pt(2), t.pt(3)}}, x0, c.Min.Y, x0, c.Max.Y)
		}
		ph.draw(c, t, i, x0, x1)
	}
	if m.peakReserved > 0 {
		c.StrokeLines(t.dashes(ink), outline(m.value[reservedSlot], c, p, m.end.Seconds()))
	}
	if m.showsCapacity() {
		y := c.Y(p.Y.Norm(m.capacity))
		c.StrokeLine2(draw.LineStyle{Color: capacityColor, Width: t.pt(2.5)}, c.Min.X, y, c.Max.X, y)
	}
	if m.oom >= 0 && !math.IsInf(m.oom, 0) {
		if x := c.X(p.X.Norm(m.oom)); c.ContainsX(x) {
			c.StrokeLine2(draw.LineStyle{Color: vermillion, Width: t.pt(2.5)}, x, c.Min.Y, x, c.Max.Y)
		}
	}
}
