package topo

import (
	"fmt"
	"strconv"
	"strings"

	"trainsim/interconnect"
	"trainsim/sim/input"
)

// rows reads the rows of all devices.
func (p *parser) rows() error {
	p.got = make([]tableRow, len(p.names))
	for p.next < len(p.lines) && !isLegend(p.lines[p.next].text) {
		l := p.lines[p.next]
		p.next++
		if strings.TrimSpace(l.text) == "" {
			continue
		}
		d, rest, ok := p.label(l.text)
		if !ok {
			if p.complete() {
				return nil
			}
			if err := p.unknownCell(l); err != nil {
				return err
			}
			return &input.Problem{Line: l.number, Text: fmt.Sprintf(
				"%s is neither a row nor the rest of one", input.Quote(strings.TrimSpace(l.text)))}
		}
		if p.got[d].line != 0 {
			return &input.Problem{Line: l.number, Text: fmt.Sprintf(
				"%s has a second row; the first is line %d", p.names[d], p.got[d].line)}
		}
		if err := p.row(d, l.number, rest); err != nil {
			return err
		}
	}
	return nil
}

// complete says whether every GPU has its row.
func (p *parser) complete() bool {
	for _, r := range p.got[:p.gpus] {
		if r.line == 0 {
			return false
		}
	}
	return true
}

// row reads one device's cells; a row that a terminal tore goes on in the next
// lines.
func (p *parser) row(device, line int, rest string) error {
	r := &p.got[device]
	r.line, r.rest = line, rest
	for {
		if err := p.takeCells(r); err != nil {
			return err
		}
		if len(r.cells) == len(p.names) {
			break
		}
		if f := strings.Fields(r.rest); len(f) > 0 && !isAffinity(f[0]) {
			return p.noPath(line, device, f[0])
		}
		if !p.continues() {
			return &input.Problem{Line: line, Text: fmt.Sprintf(
				"the row of %s has %d of %d cells; give the whole line", p.names[device], len(r.cells), len(p.names))}
		}
		r.rest = p.lines[p.next].text
		p.next++
	}
	if f := strings.Fields(r.rest); len(f) > 0 && cellRun.MatchString(f[0]) {
		return &input.Problem{Line: line, Text: fmt.Sprintf(
			"the row of %s has more than the header's %d cells", p.names[device], len(p.names))}
	}
	if c := r.cells[device]; c.Type != interconnect.PathSelf {
		return &input.Problem{Line: line, Text: fmt.Sprintf(
			"the row of %s has %v instead of X in its own column; a cell is missing", p.names[device], c)}
	}
	if strings.TrimSpace(r.rest) == "" && p.continues() {
		r.rest = p.lines[p.next].text
		p.next++
	}
	return nil
}

// unknownCell refuses a line that starts like a row but goes on with a word that
// is no path.
func (p *parser) unknownCell(l textLine) error {
	f := strings.Fields(l.text)
	if len(f) < 2 || deviceRun.MatchString(f[1]) {
		return nil
	}
	if device, known := p.index[f[0]]; known {
		return p.noPath(l.number, device, f[1])
	}
	return nil
}

func (p *parser) noPath(line, device int, word string) error {
	return &input.Problem{Line: line, Text: fmt.Sprintf(
		"%s in the row of %s is no path; write X, NV1 to NV64, PIX, PXB, PHB, NODE or SYS, as nvidia-smi topo -m "+
			"does", input.Quote(word), p.names[device])}
}

// continues says whether the next line is the rest of a torn row.
func (p *parser) continues() bool {
	if p.next == len(p.lines) {
		return false
	}
	s := p.lines[p.next].text
	f := strings.Fields(s)
	if len(f) == 0 || isLegend(s) {
		return false
	}
	_, known := p.index[f[0]]
	_, _, row := p.label(s)
	return !known && !row && (cellRun.MatchString(f[0]) || isAffinity(f[0]))
}

// isAffinity says whether a word can stand in an affinity column.
func isAffinity(s string) bool {
	return s == "N/A" || strings.Trim(s, "0123456789,-") == ""
}

// takeCells moves cells from the front of the rest of a row, splitting glued
// ones.
func (p *parser) takeCells(r *tableRow) error {
	for len(r.cells) < len(p.names) {
		f := strings.Fields(r.rest)
		if len(f) == 0 || !cellRun.MatchString(f[0]) {
			return nil
		}
		r.rest = r.rest[strings.Index(r.rest, f[0])+len(f[0]):]
		for _, text := range oneCell.FindAllString(f[0], -1) {
			cell, err := parseCell(text)
			if err != nil {
				return &input.Problem{Line: r.line, Text: err.Error()}
			}
			r.cells = append(r.cells, cell)
		}
	}
	if len(r.cells) > len(p.names) {
		return &input.Problem{Line: r.line, Text: fmt.Sprintf(
			"the row has %d cells, the header %d columns", len(r.cells), len(p.names))}
	}
	return nil
}

var cellTypes = map[string]interconnect.PathType{
	"X": interconnect.PathSelf, "PIX": interconnect.PathPIX, "PXB": interconnect.PathPXB, "PHB": interconnect.PathPHB,
	"NODE": interconnect.PathNODE, "SYS": interconnect.PathSYS, "SOC": interconnect.PathSYS,
}

func parseCell(s string) (interconnect.Cell, error) {
	if t, ok := cellTypes[s]; ok {
		return interconnect.Cell{Type: t}, nil
	}
	n, err := strconv.Atoi(s[2:])
	if err != nil || n < 1 || n > 64 {
		return interconnect.Cell{}, fmt.Errorf("%s is no number of NVLinks; write NV1 to NV64", s)
	}
	return interconnect.Cell{Type: interconnect.PathNVL, Links: n}, nil
}

// matrix checks the rows against each other.
func (p *parser) matrix() (*interconnect.Matrix, error) {
	m := &interconnect.Matrix{GPUNames: p.names[:p.gpus], NICNames: p.names[p.gpus:]}
	for d, r := range p.got {
		if r.line == 0 && d < p.gpus {
			return nil, &input.Problem{Text: fmt.Sprintf("the row of %s is missing; give the whole table", p.names[d])}
		}
		if r.line == 0 {
			r.cells = p.missingCard(d)
			p.got[d].cells = r.cells
		}
		m.Cells = append(m.Cells, r.cells)
		if d < p.gpus {
			cpu, numa := affinity(r.rest)
			m.CPUs, m.NUMA = append(m.CPUs, cpu), append(m.NUMA, numa)
		}
	}
	for a := range m.Cells {
		for b := range a {
			if problem := p.mismatch(m.Cells[a][b], m.Cells[b][a], a); problem != "" {
				return nil, &input.Problem{Line: p.got[a].line, Text: fmt.Sprintf("%s to %s is %v, %s", p.names[a],
					p.names[b], m.Cells[a][b], problem)}
			}
		}
	}
	return m, nil
}

// mismatch says what is wrong with the cell of two devices, of which later is
// the one further down; "" when nothing is.
func (p *parser) mismatch(cell, back interconnect.Cell, later int) string {
	switch {
	case cell != back:
		return fmt.Sprintf("but %v the other way", back)
	case cell.Type == interconnect.PathSelf:
		return "as if they were one device"
	case cell.Type == interconnect.PathNVL && later >= p.gpus:
		return "but NVLink joins GPUs only"
	}
	return ""
}

// missingCard rebuilds the row of a network card that was cut off: its way to
// GPUs from their rows, to other cards over the GPU that is nearest to both.
func (p *parser) missingCard(card int) []interconnect.Cell {
	cells := make([]interconnect.Cell, len(p.names))
	for d := range cells {
		switch {
		case d == card:
		case d < p.gpus || p.got[d].cells != nil:
			cells[d] = p.got[d].cells[card]
		default:
			cells[d].Type = interconnect.PathSYS
			for _, g := range p.got[:p.gpus] {
				cells[d].Type = min(cells[d].Type, max(g.cells[card].Type, g.cells[d].Type))
			}
		}
	}
	return cells
}

// affinity reads the CPU and NUMA columns; "" and -1 where they are empty.
func affinity(rest string) (cpu string, numa int) {
	var columns []string
	if strings.Contains(rest, "\t") {
		columns = strings.Split(strings.TrimPrefix(strings.TrimLeft(rest, " "), "\t"), "\t")
	} else {
		columns = strings.Fields(rest)
	}
	for i := range columns {
		columns[i] = strings.TrimSpace(columns[i])
	}
	columns = append(columns, "", "")
	if cpu = columns[0]; cpu == "N/A" {
		cpu = ""
	}
	numa, err := strconv.Atoi(columns[1])
	if err != nil || numa < 0 {
		numa = -1
	}
	return cpu, numa
}
