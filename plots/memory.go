package plots

import (
	"fmt"
	"slices"

	"trainsim/plots/chart"
	"trainsim/plots/timeline"
	"trainsim/sim/report"
	"trainsim/sim/trace"
)

const errNoMemory = chart.Empty("plots: the recording has no memory counters to draw")

// memory draws the memory of the fullest rank over the step: allocated bytes
// stacked by kind, what the caching allocator reserves, and the capacity, with
// the phases of the rank's schedule above. A recording without memory counters
// is an error.
func memory(run *report.Run, o chart.Options) (*chart.Figure, error) {
	r, rep := run.Recording, run.Report
	m, err := memoryOf(r, rep)
	if err != nil {
		return nil, err
	}
	return chart.New(o, chart.Page{
		Title:    titleOf(o, rep, fmt.Sprintf("memory of rank %d (stage %d), the fullest", m.rank, m.stage)),
		Subtitle: m.facts(rep),
		Legend:   m.legend(),
		Body:     m.body,
	})
}

// memoryOverTime is one rank's memory over time. Slots of levels are memoryStyles,
// other kinds, and what the allocator reserves.
type memoryOverTime struct {
	timeline.Levels
	rank, stage  int
	capacity     float64
	peak         float64            // largest of the stack
	stated       float64            // the report's peak, which has what lies outside the allocator in it
	peakReserved float64            // largest of the reserved line
	present      [reservedSlot]bool // whether the kind can be seen
	phases       []timeline.Phase
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

func memoryOf(r *trace.Recording, rep *report.Report) (*memoryOverTime, error) {
	rank, ok := timeline.FullestRank(r)
	end := timeline.End(r)
	if !ok || end <= 0 {
		return nil, errNoMemory
	}
	m := &memoryOverTime{rank: rank, oom: -1}
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
			slot[i] = chart.MemoryIndex(c.Name)
		}
	}
	m.Levels = timeline.Peaks(r, slot, memorySlots, reservedSlot, end)
	m.summarise()
	m.phases, m.rep = timeline.Phases(r, rep, rank), rep
	m.fromReport(rep)
	return m, nil
}

// fromReport takes the capacity, the out-of-memory instant and the peak: that of
// the report counts what is there for an instant, between an allocation and the
// free behind it, or after the step, and which has no width on the axis.
func (m *memoryOverTime) fromReport(rep *report.Report) {
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
func (m *memoryOverTime) summarise() {
	for col := range timeline.Columns {
		outside, total := 0.0, 0.0
		for s := range reservedSlot {
			v := m.Value[s][col]
			total += v
			if s < outsideKinds {
				outside += v
			}
		}
		m.peak = max(m.peak, total)
		if m.Value[reservedSlot][col] > 0 {
			m.Value[reservedSlot][col] += outside
		}
		m.peakReserved = max(m.peakReserved, m.Value[reservedSlot][col])
	}
	for s := range reservedSlot {
		m.present[s] = slices.Max(m.Value[s]) > m.peak/chart.Visible
	}
}

func (m *memoryOverTime) facts(rep *report.Report) string {
	var reserved, capacity, oom string
	if m.peakReserved > 0 {
		reserved = "reserved up to " + chart.Gibibytes(m.peakReserved)
	}
	if m.capacity > 0 {
		capacity = "capacity " + chart.Gibibytes(m.capacity)
		if m.allowed > 0 {
			capacity = chart.Gibibytes(m.allowed) + " allowed to the allocator"
		}
		if !m.showsCapacity() {
			capacity += " (above the axis)"
		}
	}
	if m.oom >= 0 {
		oom = "OUT OF MEMORY at " + chart.Seconds(m.oom)
		if rep.OOM.Needed > 0 {
			oom += ": the step needs " + chart.Gibibytes(float64(rep.OOM.Needed))
		}
	}
	return chart.Facts(oom, "peak "+chart.Gibibytes(max(m.peak, m.stated)), reserved, capacity)
}

// showsCapacity says whether the capacity line is near enough to leave the
// stack legible.
func (m *memoryOverTime) showsCapacity() bool {
	return m.capacity > 0 && m.capacity <= 5*max(m.peak, m.peakReserved)
}

func (m *memoryOverTime) legend() []chart.LegendEntry {
	var out []chart.LegendEntry
	for i, s := range chart.MemoryStyles {
		if m.present[i] {
			out = append(out, chart.LegendEntry{Label: s.Label, Color: s.Color})
		}
	}
	if m.present[otherSlot] {
		out = append(out, chart.LegendEntry{Label: chart.OtherMemory.Label, Color: chart.OtherMemory.Color})
	}
	if m.peakReserved > 0 {
		out = append(out, chart.LegendEntry{Label: "reserved by the allocator, with what lies outside it",
			Color: chart.Ink, Mark: chart.MarkDashes})
	}
	if m.showsCapacity() {
		label := "capacity of the GPU"
		if m.allowed > 0 {
			label = "allowed by memory_fraction, with what lies outside the allocator"
		}
		out = append(out, chart.LegendEntry{Label: label, Color: chart.CapacityColor, Mark: chart.MarkLine})
	}
	if m.oom >= 0 {
		out = append(out, chart.LegendEntry{Label: "out of memory", Color: chart.Vermillion, Mark: chart.MarkLine})
	}
	return out
}
