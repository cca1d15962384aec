package topo

import "trainsim/interconnect"

// Document is a survey for programs.
type Document struct {
	GPUs int `json:"gpus"`
	NICs int `json:"nics"`
	// Links are all pairs of devices with their cell.
	Links   [][3]string `json:"links"`
	Islands [][]int     `json:"islands"`
	Ring    []int       `json:"ring"`
	// Bottleneck is the ring's slowest hop; nil for a ring of one.
	Bottleneck *SlowestHop `json:"ring_bottleneck"`
	Groups     [][]int     `json:"tensor_parallel_groups"`
}

// SlowestHop is the hop that limits a ring.
type SlowestHop struct {
	From        int     `json:"from"`
	To          int     `json:"to"`
	Type        string  `json:"type"`
	BytesPerSec float64 `json:"bytes_per_s"`
}

// Document returns the survey of a table.
func (s *Survey) Document(m *interconnect.Matrix) Document {
	d := Document{GPUs: m.GPUs(), NICs: m.NICs(), Links: [][3]string{}, Islands: s.Islands, Ring: s.Ring,
		Groups: s.Groups}
	names := m.Names()
	for i := range names {
		for j := i + 1; j < len(names); j++ {
			d.Links = append(d.Links, [3]string{names[i], names[j], m.Cells[i][j].String()})
		}
	}
	if len(s.Ring) > 1 {
		b := s.Bottleneck
		d.Bottleneck = &SlowestHop{b.From, b.To, b.Cell.String(), b.BytesPerSec}
	}
	return d
}
