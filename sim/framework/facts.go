package framework

import "trainsim/sim/gpu/generation"

// Facts are what a preset may ask of a job to say what it does there.
type Facts struct {
	Generation *generation.Generation
	// Unfused says that attention runs as kernels of its own.
	Unfused bool
	// RMSNorm says that the layers have RMS norms.
	RMSNorm bool
	// Date is the software's, empty when nobody says.
	Date string
}

// When is the condition of a preset's [[variant]]: what it names must all hold.
type When struct {
	// FP8 asks whether the GPU multiplies in FP8.
	FP8 *bool
	// FusedCrossEntropy asks for a GPU of the time when Transformer Engine had
	// the fused kernel of the loss.
	FusedCrossEntropy *bool
	Unfused           *bool
	RMSNorm           *bool
	// Since and Until bound the software's date, the latter excluded. A job that
	// gives none meets neither.
	Since, Until string
}

// Holds reports whether the facts meet the condition.
func (w *When) Holds(f Facts) bool {
	return same(w.FP8, f.Generation.FP8) && same(w.FusedCrossEntropy, f.Generation.FusedCrossEntropy) &&
		same(w.Unfused, f.Unfused) && same(w.RMSNorm, f.RMSNorm) &&
		(w.Since == "" || f.Date >= w.Since) && (w.Until == "" || f.Date != "" && f.Date < w.Until)
}

func same(asked *bool, fact bool) bool { return asked == nil || *asked == fact }
