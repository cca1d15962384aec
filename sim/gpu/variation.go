package gpu

import "math"

// SlowestOf returns by which factor the slowest of n cards computes slower than
// a typical one: collectives let all of a job's cards wait for it. The rates of
// the cards are taken as normally distributed; the expected largest of n such
// values is Blom's approximation (Blom 1958, Statistical Estimates and
// Transformed Beta-Variables).
func (d *Device) SlowestOf(n int) float64 {
	if n <= 1 || d.Variation <= 0 {
		return 1
	}
	p := (float64(n) - 0.375) / (float64(n) + 0.25)
	deviations := math.Sqrt2 * math.Erfinv(2*p-1)
	return 1 + math.Round(d.Variation*deviations*1e6)/1e6
}

// computes reports whether a kernel's time follows a card's clock, in which
// cards differ, and not its memory, in which they hardly do.
func (k *Kernel) computes() bool { return k.Kind == GEMM || k.Kind == Attention }

// Pace returns the factor on the kernel's time where its card computes slower
// than a typical one by the factor slow.
func (k *Kernel) Pace(slow float64) float64 {
	if k.computes() {
		return slow
	}
	return 1
}
