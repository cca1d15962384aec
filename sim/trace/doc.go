// Package trace records what a run did: spans on the streams of ranks and
// counters of memory and links, in append-only columns, and exports them as a
// Chrome/Perfetto trace or a saved run.
package trace
