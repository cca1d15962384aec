// Package timeline reduces a recording to what an axis of time can show: the
// window of one step, the phases of a rank, counters in as many columns as a
// figure has dots, the fullest rank and the busiest links.
//
// Files in reading order: window.go (one step of several), phases.go, levels.go
// (counters over time), fullest.go, linkloads.go, ends.go.
package timeline
