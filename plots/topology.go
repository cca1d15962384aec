package plots

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
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

var errNoTopology = errors.New("plots: a topology needs devices and a square table of them")

// maxDevices is how many devices a table on a page holds.
const maxDevices = 64

// pathStyles are the classes of ways, nearest first.
var pathStyles = []struct {
	prefix string
	style
	width float64 // of an edge, in points
}{
	{"NV", style{"NVLink", green}, 4},
	{"PIX", style{"PIX: one PCIe switch", blue}, 2.5},
	{"PXB", style{"PXB: several switches", sky}, 2},
	{"PHB", style{"PHB: a host bridge", purple}, 1.5},
	{"NODE", style{"NODE: host bridges of a socket", orange}, 1},
	{"SYS", style{"SYS: between sockets", idleGrey}, 0.8},
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
func Topology(chart TopologyChart, o Options) (*Figure, error) {
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
	if err := chart.check(); err != nil {
		return nil, err
	}
	title := o.Title
	if title == "" {
		title = "topology"
	}
	return newFigure(o, page{title: title, subtitle: chart.Subtitle, legend: chart.legend(), body: chart.body}), nil
}

func (t *TopologyChart) check() error {
	n := len(t.Devices)
	if n > maxDevices {
		return fmt.Errorf("%d devices are more than the %d whose table fits on a page; leave the figure out", n, maxDevices)
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

func (t *TopologyChart) legend() []entry {
	var out []entry
	for i, s := range pathStyles {
		if t.has(i) {
			out = append(out, entry{label: s.label, color: s.color})
		}
	}
	if len(t.Ring) > 2 {
		out = append(out, entry{label: "best ring", color: ink, mark: markDashes})
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
func (t *TopologyChart) body(c draw.Canvas, th theme) {
	gap := th.pt(30)
	side := min(c.Size().Y, (c.Size().X-gap)/2)
	table, graph := c, c
	table.Max.X = c.Min.X + (c.Size().X-gap)/2
	graph.Min.X = table.Max.X + gap
	t.drawTable(table, th, side)
	t.drawGraph(graph, th, side)
}

func (t *TopologyChart) drawTable(c draw.Canvas, th theme, side vg.Length) {
	room, cell := t.cell(th, side)
	left, top := c.Min.X+room, c.Max.Y-th.pt(20)
	head := th.fit(12, false, t.longest(), cell*0.9)
	head.XAlign = draw.XCenter
	inside := th.fit(12, false, t.widest(th), cell*0.85)
	inside.XAlign, inside.YAlign = draw.XCenter, yMiddle
	for i, name := range t.Devices {
		y := top - cell*(vg.Length(i)+0.5)
		sty := th.fit(12, false, name, room)
		sty.YAlign = yMiddle
		c.FillText(sty, vg.Point{X: c.Min.X, Y: y}, name)
		c.FillText(head, vg.Point{X: left + cell*(vg.Length(i)+0.5), Y: top + th.pt(4)}, clip(head, name, cell))
		for j, text := range t.Cells[i] {
			drawCell(c, inside, text, left+cell*vg.Length(j), y-cell/2, cell)
		}
	}
}

// cell returns the room of the names beside the table and the side of a cell,
// which few devices do not fill a page with.
func (t *TopologyChart) cell(th theme, side vg.Length) (room, cell vg.Length) {
	room = th.text(12).Width(t.longest()) + th.pt(8)
	return room, min((side-room)/vg.Length(len(t.Devices)), th.pt(140))
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
func (t *TopologyChart) widest(th theme) string {
	sty := th.text(12)
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
	fill := white
	if class := pathClass(text); class >= 0 {
		fill = pathStyles[class].color
	}
	edge := side / 100
	fillRect(c, fill, x+edge, y+edge, x+side-edge, y+side-edge)
	if sty.Width(text) <= side {
		sty.Color = onTop(fill)
		c.FillText(sty, vg.Point{X: x + side/2, Y: y + side/2}, text)
	}
}

// shown is how many devices the graph shows: the GPUs, and on a node with fewer
// than three of them the cards as well.
func (t *TopologyChart) shown() int {
	if t.GPUs < 3 {
		return len(t.Devices)
	}
	return t.GPUs
}

// places puts the devices of the graph on a circle, in the order of the ring; a
// single one stands in its middle.
func (t *TopologyChart) places(centre vg.Point, radius vg.Length) []vg.Point {
	order := t.order()
	at := make([]vg.Point, len(order))
	if len(order) == 1 {
		return []vg.Point{centre}
	}
	for i, g := range order {
		angle := math.Pi/2 - 2*math.Pi*float64(i)/float64(len(order))
		at[g] = vg.Point{X: centre.X + radius*vg.Length(math.Cos(angle)), Y: centre.Y + radius*vg.Length(math.Sin(angle))}
	}
	return at
}

// drawGraph draws the devices on a circle, far ways first so that near ones lie
// on top.
func (t *TopologyChart) drawGraph(c draw.Canvas, th theme, side vg.Length) {
	centre := vg.Point{X: (c.Min.X + c.Max.X) / 2, Y: c.Max.Y - side/2}
	radius := side/2 - th.pt(34)
	if n := vg.Length(t.shown()); n < 4 { // beside a small table
		_, cell := t.cell(th, side)
		radius = side / 5
		centre.Y = c.Max.Y - max(th.pt(20)+cell*n/2, radius+th.pt(30))
	}
	at := t.places(centre, radius)
	for class := len(pathStyles) - 1; class >= 0; class-- {
		for a := range at {
			for b := range a {
				if pathClass(t.Cells[a][b]) == class {
					s := pathStyles[class]
					c.StrokeLine2(draw.LineStyle{Color: s.color, Width: th.pt(s.width)}, at[a].X, at[a].Y, at[b].X, at[b].Y)
				}
			}
		}
	}
	for i := range t.Ring {
		a, b := at[t.Ring[i]], at[t.Ring[(i+1)%len(t.Ring)]]
		if len(t.Ring) > 2 {
			c.StrokeLine2(th.dashes(ink), a.X, a.Y, b.X, b.Y)
		}
	}
	for i := range at {
		th.device(c, at[i], t.Devices[i])
	}
}

// order is the ring, or the GPUs as they are numbered, and then the cards that
// the graph shows.
func (t *TopologyChart) order() []int {
	order := make([]int, 0, t.shown())
	if len(t.Ring) == t.GPUs {
		order = append(order, t.Ring...)
	}
	for i := len(order); i < t.shown(); i++ {
		order = append(order, i)
	}
	return order
}

// device draws one GPU of the graph with its name.
func (t theme) device(c draw.Canvas, at vg.Point, name string) {
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: ink, Radius: t.pt(25), Shape: draw.CircleGlyph{}}, at)
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: white, Radius: t.pt(23), Shape: draw.CircleGlyph{}}, at)
	sty := t.fit(12, true, name, t.pt(42))
	sty.XAlign, sty.YAlign = draw.XCenter, yMiddle
	c.FillText(sty, at, clip(sty, name, t.pt(44)))
}
