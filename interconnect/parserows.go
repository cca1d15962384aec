package interconnect

import (
	"fmt"
	"strconv"
	"strings"
)

// rows reads the rows of all devices.
func (p *topoParser) rows() error {
	p.got = make([]topoRow, len(p.names))
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
			return &TopoError{Line: l.number, Text: fmt.Sprintf("%q is neither a row nor the rest of one", clip(l.text))}
		}
		if p.got[d].line != 0 {
			return &TopoError{Line: l.number, Text: fmt.Sprintf("%s has a second row; the first is line %d", p.names[d], p.got[d].line)}
		}
		if err := p.row(d, l.number, rest); err != nil {
			return err
		}
	}
	return nil
}

func clip(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 40 {
		s = s[:40] + "..."
	}
	return s
}

// complete says whether every GPU has its row.
func (p *topoParser) complete() bool {
	for _, r := range p.got[:p.gpus] {
		if r.line == 0 {
			return false
		}
	}
	return true
}

// row reads one device's cells; a row that a terminal tore goes on in the next
// lines.
func (p *topoParser) row(device, line int, rest string) error {
	r := &p.got[device]
	r.line, r.rest = line, rest
	for {
		if err := p.takeCells(r); err != nil {
			return err
		}
		if len(r.cells) == len(p.names) {
			break
		}
		if !p.continues() {
			return &TopoError{Line: line, Text: fmt.Sprintf("the row of %s has %d of %d cells; give the whole line", p.names[device], len(r.cells), len(p.names))}
		}
		r.rest = p.lines[p.next].text
		p.next++
	}
	if f := strings.Fields(r.rest); len(f) > 0 && cellRun.MatchString(f[0]) {
		return &TopoError{Line: line, Text: fmt.Sprintf("the row of %s has more than the header's %d cells", p.names[device], len(p.names))}
	}
	if c := r.cells[device]; c.Type != PathSelf {
		return &TopoError{Line: line, Text: fmt.Sprintf("the row of %s has %v instead of X in its own column; a cell is missing", p.names[device], c)}
	}
	if strings.TrimSpace(r.rest) == "" && p.continues() {
		r.rest = p.lines[p.next].text
		p.next++
	}
	return nil
}

// continues says whether the next line is the rest of a torn row.
func (p *topoParser) continues() bool {
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
func (p *topoParser) takeCells(r *topoRow) error {
	for len(r.cells) < len(p.names) {
		f := strings.Fields(r.rest)
		if len(f) == 0 || !cellRun.MatchString(f[0]) {
			return nil
		}
		r.rest = r.rest[strings.Index(r.rest, f[0])+len(f[0]):]
		for _, text := range oneCell.FindAllString(f[0], -1) {
			cell, err := parseCell(text)
			if err != nil {
				return &TopoError{Line: r.line, Text: err.Error()}
			}
			r.cells = append(r.cells, cell)
		}
	}
	if len(r.cells) > len(p.names) {
		return &TopoError{Line: r.line, Text: fmt.Sprintf("the row has %d cells, the header %d columns", len(r.cells), len(p.names))}
	}
	return nil
}

var cellTypes = map[string]PathType{
	"X": PathSelf, "PIX": PathPIX, "PXB": PathPXB, "PHB": PathPHB, "NODE": PathNODE, "SYS": PathSYS, "SOC": PathSYS,
}

func parseCell(s string) (Cell, error) {
	if t, ok := cellTypes[s]; ok {
		return Cell{Type: t}, nil
	}
	n, err := strconv.Atoi(s[2:])
	if err != nil || n < 1 || n > 64 {
		return Cell{}, fmt.Errorf("%s is no number of NVLinks; write NV1 to NV64", s)
	}
	return Cell{Type: PathNVL, Links: n}, nil
}

// String returns the cell as nvidia-smi prints it.
func (c Cell) String() string {
	if c.Type == PathNVL {
		return "NV" + strconv.Itoa(c.Links)
	}
	return c.Type.String()
}

// matrix checks the rows against each other.
func (p *topoParser) matrix() (*Matrix, error) {
	m := &Matrix{GPUNames: p.names[:p.gpus], NICNames: p.names[p.gpus:]}
	for d, r := range p.got {
		if r.line == 0 && d < p.gpus {
			return nil, &TopoError{Text: fmt.Sprintf("the row of %s is missing; give the whole table", p.names[d])}
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
				return nil, &TopoError{Line: p.got[a].line, Text: fmt.Sprintf("%s to %s is %v, %s", p.names[a], p.names[b], m.Cells[a][b], problem)}
			}
		}
	}
	return m, nil
}

// mismatch says what is wrong with the cell of two devices, of which later is
// the one further down; "" when nothing is.
func (p *topoParser) mismatch(cell, back Cell, later int) string {
	switch {
	case cell != back:
		return fmt.Sprintf("but %v the other way", back)
	case cell.Type == PathSelf:
		return "as if they were one device"
	case cell.Type == PathNVL && later >= p.gpus:
		return "but NVLink joins GPUs only"
	}
	return ""
}

// missingCard rebuilds the row of a network card that was cut off: its way to
// GPUs from their rows, to other cards over the GPU that is nearest to both.
func (p *topoParser) missingCard(card int) []Cell {
	cells := make([]Cell, len(p.names))
	for d := range cells {
		switch {
		case d == card:
		case d < p.gpus || p.got[d].cells != nil:
			cells[d] = p.got[d].cells[card]
		default:
			cells[d].Type = PathSYS
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
