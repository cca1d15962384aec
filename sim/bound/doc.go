// Package bound says what no simulation of a job can fall below, in time and in
// memory: what a search may discard a layout by.
package bound
