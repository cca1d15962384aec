// Package draw shows pipeline schedules and their times: as text with a Gantt
// chart for terminals, as lists of actions with or without sends and receives,
// as JSON, and as the spans of a figure.
//
// # Reading order
//
//   - text.go: the whole page, and plain lists
//   - gantt.go: the chart in it
//   - summary.go: the same as JSON
//   - spans.go: what a figure draws
//
// To add a form, write its file with a function of a program and its result;
// the command's --format names it.
package draw
