// Package input is about texts that people write and programs read: what a
// misspelt word in them probably means.
//
// Files in reading order: nearest.go.
package input
