package plots

import (
	"fmt"
	"image/color"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"trainsim/plots/chart"
)

// TopologyChart is a node's devices and the ways between them, as
// `nvidia-smi topo -m` names them.
type TopologyChart struct {
	// Devices are the rows of the table, the GPUs first.
	Devices []string
	// GPUs is how many of them are GPUs.
	GPUs int
	// Cells is the table: X, NV and a number, PIX, PXB, PHB, NODE or SYS.
	Cells [][]string
	// Ring is the best order of the GPUs, by index.
	Ring []int
	// Subtitle says what the picture shows.
	Subtitle string
}

const errNoTopology = chart.Empty("plots: a topology needs devices and a square table of them")

// maxDevices is how many devices a table on a page holds.
const maxDevices = 64

// pathStyles are the classes of ways, nearest first.
var pathStyles = []struct {
	prefix, label string
	color         color.RGBA
	width         float64 // of an edge, in points
}{
	{"NV", "NVLink", chart.Green, 4},
	{"PIX", "PIX: one PCIe switch", chart.Blue, 2.5},
	{"PXB", "PXB: several switches", chart.Sky, 2},
	{"PHB", "PHB: a host bridge", chart.Purple, 1.5},
	{"NODE", "NODE: host bridges of a socket", chart.Orange, 1},
	{"SYS", "SYS: between sockets", chart.IdleGrey, 0.8},
}

// pathClass returns the class of a cell, -1 for the diagonal and what is
// unknown.
func pathClass(cell string) int {
	for i, s := range pathStyles {
		if strings.HasPrefix(cell, s.prefix) {
			return i
		}
	}
	return -1
}

// Topology draws the table of a node's devices, and its GPUs (its cards, too,
// where there are one or two GPUs) on a circle in the order of the best ring with
// an edge for each way.
func Topology(t TopologyChart, o chart.Options) (*chart.Figure, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	title := o.Title
	if title == "" {
		title = "topology"
	}
	return chart.New(o, chart.Page{Title: title, Subtitle: t.Subtitle, Legend: t.legend(), Body: t.body})
}

func (t *TopologyChart) check() error {
	n := len(t.Devices)
	if n > maxDevices {
		return fmt.Errorf("%d devices are more than the %d whose table fits on a page; leave the figure out", n,
			maxDevices)
	}
	if n == 0 || len(t.Cells) != n || t.GPUs < 1 || t.GPUs > n {
		return errNoTopology
	}
	for _, row := range t.Cells {
		if len(row) != n {
			return errNoTopology
		}
	}
	for _, g := range t.Ring {
		if g < 0 || g >= t.GPUs {
			return errNoTopology
		}
	}
	return nil
}

func (t *TopologyChart) legend() []chart.LegendEntry {
	var out []chart.LegendEntry
	for i, s := range pathStyles {
		if t.has(i) {
			out = append(out, chart.LegendEntry{Label: s.label, Color: s.color})
		}
	}
	if len(t.Ring) > 2 {
		out = append(out, chart.LegendEntry{Label: "best ring", Color: chart.Ink, Mark: chart.MarkDashes})
	}
	return out
}

func (t *TopologyChart) has(class int) bool {
	for _, row := range t.Cells {
		for _, cell := range row {
			if pathClass(cell) == class {
				return true
			}
		}
	}
	return false
}

// body puts the table on the left and the graph on the right.
func (t *TopologyChart) body(c draw.Canvas, th chart.Theme) {
	gap := th.Pt(30)
	side := min(c.Size().Y, (c.Size().X-gap)/2)
	table, graph := c, c
	table.Max.X = c.Min.X + (c.Size().X-gap)/2
	graph.Min.X = table.Max.X + gap
	t.drawTable(table, th, side)
	t.drawGraph(graph, th, side)
}

func (t *TopologyChart) drawTable(c draw.Canvas, th chart.Theme, side vg.Length) {
	room, cell := t.cell(th, side)
	left, top := c.Min.X+room, c.Max.Y-th.Pt(20)
	head := th.Fit(12, false, t.longest(), cell*0.9)
	head.XAlign = draw.XCenter
	inside := th.Fit(12, false, t.widest(th), cell*0.85)
	inside.XAlign, inside.YAlign = draw.XCenter, chart.YMiddle
	for i, name := range t.Devices {
		y := top - cell*(vg.Length(i)+0.5)
		sty := th.Fit(12, false, name, room)
		sty.YAlign = chart.YMiddle
		c.FillText(sty, vg.Point{X: c.Min.X, Y: y}, name)
		c.FillText(head, vg.Point{X: left + cell*(vg.Length(i)+0.5), Y: top + th.Pt(4)}, chart.Clip(head, name, cell))
		for j, text := range t.Cells[i] {
			drawCell(c, inside, text, left+cell*vg.Length(j), y-cell/2, cell)
		}
	}
}

// cell returns the room of the names beside the table and the side of a cell,
// which few devices do not fill a page with.
func (t *TopologyChart) cell(th chart.Theme, side vg.Length) (room, cell vg.Length) {
	room = th.Text(12).Width(t.longest()) + th.Pt(8)
	return room, min((side-room)/vg.Length(len(t.Devices)), th.Pt(140))
}

func (t *TopologyChart) longest() string {
	longest := ""
	for _, name := range t.Devices {
		if len(name) > len(longest) {
			longest = name
		}
	}
	return longest
}

// widest is the cell that takes most room.
func (t *TopologyChart) widest(th chart.Theme) string {
	sty := th.Text(12)
	widest := ""
	for _, row := range t.Cells {
		for _, cell := range row {
			if sty.Width(cell) > sty.Width(widest) {
				widest = cell
			}
		}
	}
	return widest
}

// drawCell colours one cell and writes its text where it fits.
func drawCell(c draw.Canvas, sty draw.TextStyle, text string, x, y, side vg.Length) {
	fill := chart.White
	if class := pathClass(text); class >= 0 {
		fill = pathStyles[class].color
	}
	edge := side / 100
	chart.FillRect(c, fill, x+edge, y+edge, x+side-edge, y+side-edge)
	if sty.Width(text) <= side {
		sty.Color = chart.OnTop(fill)
		c.FillText(sty, vg.Point{X: x + side/2, Y: y + side/2}, text)
	}
}
