// Package gpu says how long a kernel keeps a GPU busy.
//
// A Device is data: what the data sheet says and the fitted parameters of the
// cost model, read from a preset file. A Kernel says what is computed and moved.
// Device.Time turns the two into simulated time; it is a pure function.
//
// # GEMM
//
// A thread block computes a tile of the result. With t tiles, K split into s
// parts and P multiprocessors, blocks come in w waves of P, and
//
//	time = launch + max(w * (2*M_t*N_t*K/s / (rate/P * efficiency) + setup + drain) + split + wide,
//	                    bytes / bandwidth)
//
// where w lies between t*s/P and the next whole number by the parameter tail.
// The library's heuristic takes the tile and split that it believes to be the
// fastest; its belief differs from the truth by a factor a tile, so that its
// known poor choices are poor here too.
//
// # Fused attention
//
// A thread block takes a number of query rows of a head and walks over the keys
// that its last row sees. The time is the mean load of a multiprocessor and a
// part of the longest block, at least that block.
//
// # Power
//
// A kernel that reaches the share u of the peak at full clock draws more than
// the board's limit when u is above what the limit feeds, and the clock falls
// by (full_clock_share/u)^(1/exponent). A training step lasts long against the
// limit's patience; a benchmark of short kernels does not, see TimeAlone.
//
// # Memory-bound kernels
//
//	time = latency + (read + written) / (bandwidth * share of the class)
//
// Nothing in this package knows a model, a training run or a table of
// measurements.
//
// Files in reading order: device.go (a device), kernel.go, dtype.go (what is asked
// of it), time.go; gemm.go, attention.go, streaming.go (the three kinds of
// kernels); beside.go (collectives at the same time), power.go, variation.go (cards
// that differ); units.go, name.go.
package gpu
