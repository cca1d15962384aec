package plots

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"trainsim/plots/chart"
	"trainsim/sim/report"
	"trainsim/sim/trace"
)

const errNoSegments = chart.Empty("plots: the recording has no allocator's segments to draw")

// ribbonRows is over how many lines the addresses are wrapped.
const ribbonRows = 18

// allocator draws every block of the fullest device's caching allocator, at its
// peak or where it ran out of memory, as a ribbon of addresses, wrapped into
// lines: in use in the colour of its kind, idle in grey, with a stroke where a
// segment begins. Gaps between segments are left out.
func allocator(run *report.Run, o chart.Options) (*chart.Figure, error) {
	rec, rep := run.Recording, run.Report
	if rec.Blocks == nil {
		return nil, errNoSegments
	}
	r := newRibbon(rec.Blocks)
	if r.total <= 0 {
		return nil, errNoSegments
	}
	when := "at its peak"
	if rec.Blocks.Failed {
		when = "when it ran out of memory"
	}
	what := fmt.Sprintf("allocator of rank %d (stage %d) %s", rec.Blocks.Rank, rec.Blocks.Stage, when)
	return chart.New(o, chart.Page{
		Title:    titleOf(o, rep, what),
		Subtitle: r.facts(),
		Legend:   r.legend(),
		Body:     r.body,
	})
}

// ribbon is the blocks end to end.
type ribbon struct {
	segments      [][]trace.Block
	total         int64
	used, largest int64
	pieces        int
	perRow        int64
	kinds         [8]bool // of memoryStyles and other, that there are
}

func newRibbon(blocks *trace.Blocks) *ribbon {
	r := &ribbon{segments: blocks.Segments}
	for _, s := range r.segments {
		for _, b := range s {
			if b.Bytes <= 0 {
				continue
			}
			r.total += b.Bytes
			if b.Kind == "" {
				r.pieces++
				r.largest = max(r.largest, b.Bytes)
				continue
			}
			r.used += b.Bytes
			r.kinds[chart.MemoryIndex(b.Kind)] = true
		}
	}
	r.perRow = max(1, int64(math.Ceil(float64(r.total)/ribbonRows)))
	return r
}

func (r *ribbon) facts() string {
	segments, pieces := "segments", fmt.Sprintf("%d pieces, the largest", r.pieces)
	if len(r.segments) == 1 {
		segments = "segment"
	}
	if r.pieces == 1 {
		pieces = "one piece of"
	}
	return chart.Facts(
		fmt.Sprintf("%s reserved in %d %s", chart.Gibibytes(float64(r.total)), len(r.segments), segments),
		fmt.Sprintf("%s in use", chart.Gibibytes(float64(r.used))),
		fmt.Sprintf("%s idle in %s %s", chart.Gibibytes(float64(r.total-r.used)), pieces,
			chart.Gibibytes(float64(r.largest))))
}

func (r *ribbon) legend() []chart.LegendEntry {
	var out []chart.LegendEntry
	for i, m := range chart.MemoryStyles {
		if r.kinds[i] {
			out = append(out, chart.LegendEntry{Label: m.Label, Color: m.Color})
		}
	}
	if r.kinds[len(chart.MemoryStyles)] {
		out = append(out, chart.LegendEntry{Label: chart.OtherMemory.Label, Color: chart.OtherMemory.Color})
	}
	return append(out, chart.LegendEntry{Label: "idle", Color: chart.IdleGrey},
		chart.LegendEntry{Label: "a segment begins", Color: chart.Ink, Mark: chart.MarkLine})
}

// body draws the lines from the top.
func (r *ribbon) body(c draw.Canvas, t chart.Theme) {
	sty := t.Text(13)
	sty.XAlign, sty.YAlign = draw.XRight, chart.YMiddle
	left := c.Min.X + sty.Width("000.0 GiB") + t.Pt(8)
	row := (c.Max.Y - c.Min.Y) / ribbonRows
	place := func(at int64) (x, y vg.Length) {
		line := at / r.perRow
		share := float64(at-line*r.perRow) / float64(r.perRow)
		return left + vg.Length(share)*(c.Max.X-left), c.Max.Y - vg.Length(line+1)*row
	}
	for line := range int64(ribbonRows) {
		from := line * r.perRow
		if from >= r.total {
			break
		}
		_, y := place(from)
		c.FillText(sty, vg.Point{X: left - t.Pt(8), Y: y + row/2}, chart.Gibibytes(float64(from)))
		end := min(1, float64(r.total-from)/float64(r.perRow))
		chart.FillRect(c, chart.IdleGrey, left, y+t.Pt(3), left+vg.Length(end)*(c.Max.X-left), y+row-t.Pt(3))
	}
	r.blocks(func(from, to int64, col color.RGBA) {
		for from < to {
			stop := min(to, (from/r.perRow+1)*r.perRow)
			x0, y := place(from)
			x1 := x0 + vg.Length(float64(stop-from)/float64(r.perRow))*(c.Max.X-left)
			chart.FillRect(c, col, x0, y+t.Pt(3), x1, y+row-t.Pt(3))
			from = stop
		}
	})
	r.starts(func(at int64) {
		x, y := place(at)
		c.StrokeLine2(draw.LineStyle{Color: chart.Ink, Width: t.Pt(0.75)}, x, y+t.Pt(1.5), x, y+row-t.Pt(1.5))
	})
}

// blocks visits the stretches in use that have one colour.
func (r *ribbon) blocks(visit func(from, to int64, col color.RGBA)) {
	var at, from int64
	var col color.RGBA
	flush := func() {
		if at > from && col.A != 0 {
			visit(from, at, col)
		}
		from = at
	}
	for _, s := range r.segments {
		for _, b := range s {
			next := color.RGBA{}
			if b.Kind != "" {
				next = chart.MemoryColor(b.Kind)
			}
			if next != col {
				flush()
				col = next
			}
			at += max(0, b.Bytes)
		}
	}
	flush()
}

// starts visits where segments begin, unless they lie so close together that
// strokes would hide the blocks.
func (r *ribbon) starts(visit func(at int64)) {
	var at, last int64
	last = -r.perRow
	for _, s := range r.segments {
		if at-last >= r.perRow/400 {
			visit(at)
			last = at
		}
		for _, b := range s {
			at += max(0, b.Bytes)
		}
	}
}
