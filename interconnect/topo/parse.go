package topo

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"

	"trainsim/interconnect"
	"trainsim/sim/input"
)

const (
	maxBytes   = 4 << 20
	maxDevices = 256
)

var (
	escapes    = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")
	cellRun    = regexp.MustCompile(`^(?:X|SYS|SOC|NODE|PHB|PXB|PIX|NV[0-9]+)+$`)
	oneCell    = regexp.MustCompile(`X|SYS|SOC|NODE|PHB|PXB|PIX|NV[0-9]+`)
	deviceRun  = regexp.MustCompile(`^(?:GPU[0-9]+|NIC[0-9]+|mlx[0-9]+_(?:bond_)?[0-9]+)+$`)
	oneDevice  = regexp.MustCompile(`GPU[0-9]+|NIC[0-9]+|mlx[0-9]+_(?:bond_)?[0-9]+`)
	gpuName    = regexp.MustCompile(`^GPU[0-9]+$`)
	ruleLine   = regexp.MustCompile(`^[\s|:+-]*-[\s|:+-]*$`)
	amdTool    = regexp.MustCompile(`ROCm System Management Interface|(?:Weight|Hops|Link Type) between two GPUs`)
	affinities = regexp.MustCompile(`(?:CPU|NUMA)\s*Affinity|GPU\s*NUMA\s*ID`)
)

// Parse reads a table as `nvidia-smi topo -m` prints it, raw or as people
// post it: with or without TABs, escape sequences, comment marks, Markdown bars
// and legend; glued names and cells are split, torn rows joined. What cannot be
// mended is an [*input.Problem].
func Parse(r io.Reader) (*interconnect.Matrix, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the topology: %w", err)
	}
	if len(text) > maxBytes {
		return nil, &input.Problem{Text: fmt.Sprintf(
			"more than %d MiB; give the output of nvidia-smi topo -m alone", maxBytes>>20)}
	}
	if err := foreign(text); err != nil {
		return nil, err
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // a byte-order mark
	p := parser{}
	for i, line := range strings.Split(string(text), "\n") {
		p.lines = append(p.lines, textLine{number: i + 1, text: cleanLine(line)})
	}
	if err := p.header(); err != nil {
		return nil, err
	}
	if err := p.rows(); err != nil {
		return nil, err
	}
	return p.matrix()
}

// foreign refuses the output of other tools.
func foreign(text []byte) error {
	for i, line := range bytes.Split(text, []byte("\n")) {
		if amdTool.Match(line) {
			return &input.Problem{Line: i + 1,
				Text: "this is the output of AMD's rocm-smi, which says other things; " +
					"describe the machine by the keys of [cluster] (kind, nvlinks, nvlink_bandwidth and so on), " +
					"or give the output of nvidia-smi topo -m"}
		}
	}
	return nil
}

// textLine is a line without what is not part of the table.
type textLine struct {
	number int
	text   string
}

func cleanLine(s string) string {
	s = escapes.ReplaceAllString(strings.TrimRight(s, "\r"), "")
	if ruleLine.MatchString(s) {
		return ""
	}
	t := strings.TrimLeft(s, " ")
	if strings.HasPrefix(t, "#") || strings.HasPrefix(t, ">") {
		s = strings.TrimLeft(t, "#>")
	}
	if strings.Contains(s, "|") {
		s = strings.ReplaceAll(strings.Trim(strings.TrimSpace(s), "|"), "|", " ")
	}
	return strings.ReplaceAll(s, "`", "")
}

// tableRow is one device's row: its cells, and what follows them.
type tableRow struct {
	line  int
	cells []interconnect.Cell
	rest  string
}

type parser struct {
	lines []textLine
	next  int
	names []string
	index map[string]int
	gpus  int
	got   []tableRow
}

// header finds the line that names the columns and splits it; the lines up to
// the first row belong to it.
func (p *parser) header() error {
	for p.next < len(p.lines) && !isHeader(p.lines[p.next].text) {
		p.next++
	}
	if p.next == len(p.lines) {
		return &input.Problem{Text: "there is no header line with GPU0; give the output of nvidia-smi topo -m"}
	}
	line := p.lines[p.next].number
	for ; p.next < len(p.lines); p.next++ {
		if _, _, ok := p.label(p.lines[p.next].text); ok {
			break
		}
		if l := p.lines[p.next]; isLegend(l.text) {
			break
		} else if err := p.unknownCell(l); err != nil {
			return err
		} else if err := p.columns(l); err != nil {
			return err
		}
	}
	if p.gpus == 0 {
		return &input.Problem{Line: line, Text: "the header names no GPU"}
	}
	if len(p.names) > maxDevices {
		return &input.Problem{Line: line, Text: fmt.Sprintf(
			"the header names %d devices, more than %d", len(p.names), maxDevices)}
	}
	return nil
}

func isHeader(s string) bool {
	f := strings.Fields(s)
	if len(f) == 0 || !strings.HasPrefix(f[0], "GPU0") || !deviceRun.MatchString(f[0]) {
		return false
	}
	return len(f) == 1 || !cellRun.MatchString(f[1])
}

func isLegend(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasPrefix(s, "Legend") || strings.HasPrefix(s, "NIC Legend")
}

// columns adds the devices that a part of the header names.
func (p *parser) columns(l textLine) error {
	if p.index == nil {
		p.index = make(map[string]int)
	}
	s := affinities.ReplaceAllString(l.text, " ")
	for _, token := range strings.Fields(s) {
		names := []string{token}
		if deviceRun.MatchString(token) {
			names = oneDevice.FindAllString(token, -1)
		}
		for _, name := range names {
			if strings.Contains("CPU NUMA Affinity GPU ID", name) {
				continue // a torn affinity heading
			}
			if _, ok := p.index[name]; ok {
				return &input.Problem{Line: l.number, Text: fmt.Sprintf("the header names %s twice", name)}
			}
			if gpuName.MatchString(name) {
				if p.gpus < len(p.names) {
					return &input.Problem{Line: l.number, Text: fmt.Sprintf(
						"%s stands behind a network card; GPUs come first", name)}
				}
				p.gpus++
			}
			p.index[name] = len(p.names)
			p.names = append(p.names, name)
		}
	}
	return nil
}

// label splits a row into its device and the rest; ok says whether it is one.
func (p *parser) label(s string) (device int, rest string, ok bool) {
	f := strings.Fields(s)
	if len(f) == 0 {
		return 0, "", false
	}
	at := strings.Index(s, f[0]) + len(f[0])
	if d, known := p.index[f[0]]; known {
		return d, s[at:], len(f) > 1 && cellRun.MatchString(f[1])
	}
	if m := oneDevice.FindStringIndex(f[0]); m != nil && m[0] == 0 && cellRun.MatchString(f[0][m[1]:]) {
		d, known := p.index[f[0][:m[1]]]
		return d, s[at-len(f[0])+m[1]:], known
	}
	return 0, "", false
}
