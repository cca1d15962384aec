// Package chart is what figures are made of: a page with title, legend and body,
// its theme, the colours of the things that are drawn, axes, ticks and units, and
// the files that it is saved to. It knows what kinds of spans and memory there
// are, and nothing of what a figure shows.
//
// Colours are Okabe and Ito's set for colour-blind readers, extended by two hues
// and three greys; one table ([KindStyles], [MemoryStyles]) gives the same thing
// the same colour in every figure. Idle time is background, never a drawn colour.
//
// The same figure gives the same bytes from run to run. Builds for processors
// that fuse multiply and add may differ by 1/255 in a few dots of text, which
// the font rasteriser works out in floating point.
//
// Files in reading order: options.go, figure.go (a figure and its files), page.go
// (layout and legend), marks.go (what is drawn on a page), theme.go (fonts and
// axes), ticks.go, units.go, palette.go.
package chart
