// Package trace records what a run did: spans on the streams of ranks and
// counters of memory and links, in append-only columns, and exports them as a
// Chrome/Perfetto trace or a saved run. It holds the one table of the parallel
// dimensions, [Dimension], from which kinds of spans, streams, report keys and
// colours follow.
//
// Files in reading order: trace.go (what a recording holds), dimension.go,
// names.go, blocks.go (the allocator's blocks); chrome.go; saved.go, load.go and
// columns.go (a saved run and its columns).
package trace
