package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"trainsim/interconnect"
	"trainsim/interconnect/topo"
	"trainsim/plots"
	"trainsim/plots/chart"
	"trainsim/scenarios"
	"trainsim/sim/input"
)

// topoCommand is `trainsim topo` with its flags.
type topoCommand struct {
	*app
	gpu  string
	plot string
}

// newTopoCommand is `trainsim topo`.
func newTopoCommand(a *app) *cobra.Command {
	t := &topoCommand{app: a}
	cmd := &cobra.Command{
		Use:   "topo FILE|-",
		Short: "Read nvidia-smi topo -m and say what belongs where",
		Long: `topo reads the output of "nvidia-smi topo -m", as the tool writes it or as people
post it, and shows the NVLink islands, the best order of a ring over all GPUs
with its slowest hop, and which GPUs belong in one tensor-parallel group. "-" is
stdin. --gpu names the GPU, whose NVLinks and generation give the bandwidths.`,
		Example: `  nvidia-smi topo -m | trainsim topo -
  trainsim topo topo.txt --gpu a100-sxm4-80gb --plot topo.png`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return t.run(args[0]) },
	}
	cmd.Flags().StringVar(&t.gpu, "gpu", "", "the GPU preset `NAME` of the node (trainsim list gpus)")
	cmd.Flags().StringVar(&t.plot, "plot", "", "draw the table and the graph to `FILE` (.png, .svg or .pdf)")
	_ = cmd.RegisterFlagCompletionFunc("gpu", completeEntries("gpus"))
	a.jsonFlag(cmd)
	return cmd
}

// readTopo reads a table; a line that cannot be mended is named as
// FILE:LINE.
func (a *app) readTopo(path string) (*interconnect.Matrix, error) {
	text, err := a.readFile(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	name := path
	if path == "-" {
		name = "standard input"
	}
	m, err := topo.Parse(bytes.NewReader(text))
	if err != nil {
		at := input.Each(err)[0]
		at.File = name
		return nil, badInput(at)
	}
	return m, nil
}

func (t *topoCommand) run(path string) error {
	if err := checkFigure(t.plot); err != nil {
		return err
	}
	m, err := t.readTopo(path)
	if err != nil {
		return err
	}
	cfg := interconnect.Config{Topology: m}
	if t.gpu != "" {
		device, err := scenarios.LoadGPU(t.gpu)
		if err != nil {
			return badInput(err)
		}
		scenarios.SetGPU(&cfg, device)
	}
	top, err := interconnect.Build(cfg)
	if err != nil {
		return badInput(err)
	}
	s, err := topo.NewSurvey(top)
	if err != nil {
		return err
	}
	if t.json {
		err = t.writeJSON(s.Document(m))
	} else {
		err = t.print(m, top, s)
	}
	if err != nil || t.plot == "" {
		return err
	}
	return t.draw(path, m, s)
}

// draw writes the figure.
func (t *topoCommand) draw(path string, m *interconnect.Matrix, s *topo.Survey) error {
	table := plots.TopologyChart{
		Devices: m.Names(), GPUs: m.GPUs(), Ring: s.Ring,
		Subtitle: "tensor parallel: " + s.Placement(),
	}
	for _, row := range m.Cells {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = c.String()
		}
		table.Cells = append(table.Cells, cells)
	}
	fig, err := plots.Topology(table, chart.Options{Title: filepath.Base(path) + ": topology"})
	if err != nil {
		return err
	}
	if err := fig.Save(t.plot); err != nil {
		return err
	}
	t.notef("wrote %s", t.plot)
	return nil
}

// print writes the survey for people.
func (t *topoCommand) print(m *interconnect.Matrix, top *interconnect.Topology, s *topo.Survey) error {
	w := t.stdout
	fmt.Fprintf(w, "%d GPUs, %d network cards\n", m.GPUs(), m.NICs())
	fmt.Fprintf(w, "NVLink islands:    %s\n", topo.Groups(s.Islands))
	fmt.Fprintf(w, "best ring:         %s\n", ringText(s.Ring))
	if len(s.Ring) > 1 {
		b := s.Bottleneck
		fmt.Fprintf(w, "slowest hop:       GPU%d to GPU%d, %v, %.1f GB/s\n", b.From, b.To, b.Cell, b.BytesPerSec/1e9)
	}
	fmt.Fprintf(w, "tensor parallel:   %s\n", s.Placement())
	return t.printCards(m, top)
}

// printCards says which network card each GPU is nearest to.
func (t *topoCommand) printCards(m *interconnect.Matrix, top *interconnect.Topology) error {
	if m.NICs() == 0 {
		return nil
	}
	var near []string
	for g := range m.GPUs() {
		card := top.Card(g)
		near = append(near, fmt.Sprintf("GPU%d %s (%v)", g, m.NICNames[card], m.Cells[g][m.GPUs()+card]))
	}
	_, err := fmt.Fprintf(t.stdout, "nearest cards:     %s\n", strings.Join(near, ", "))
	return err
}

func ringText(ring []int) string {
	parts := make([]string, 0, len(ring)+1)
	for _, d := range ring {
		parts = append(parts, fmt.Sprint(d))
	}
	if len(ring) > 1 {
		parts = append(parts, fmt.Sprint(ring[0]))
	}
	return strings.Join(parts, " - ")
}
