package report

// kindBytes is one part of a peak.
type kindBytes struct {
	name  string
	bytes int64
}

// kinds lists the parts of a peak in the order in which they are shown.
func (p AtPeak) kinds() []kindBytes {
	return []kindBytes{
		{"weights", p.Weights}, {"gradients", p.Gradients}, {"optimizer state", p.Optimizer},
		{"activations", p.Activations}, {"temporaries", p.Temporaries},
		{"communication buffers", p.CommBuffers}, {"context", p.Context},
	}
}
