// Package plots draws the figures of a run from its recording and its report
// alone, so that a saved run can be redrawn at any time.
//
// Each figure is a function that takes the data and [Options] and returns a
// [Figure], which is saved as PNG, SVG or PDF by the ending of the file's name.
// [WriteAll] writes the standard set. All computation happens before drawing:
// a figure that cannot be drawn is an error, never an empty picture.
//
// Colours are Okabe and Ito's set for colour-blind readers, extended by two hues
// and three greys; one table ([KindColor], [MemoryColor]) gives the same thing the
// same colour in every figure. Idle time is background, never a drawn colour.
//
// The same figure gives the same bytes from run to run. Builds for processors
// that fuse multiply and add may differ by 1/255 in a few dots of text, which
// the font rasteriser works out in floating point.
package plots
