// Package input is about texts that people write and programs read: what is wrong
// with them, and where.
//
// A [Source] is a text and a [Span] a piece of it. Whoever reads one adds what is
// wrong to [Problems], each with its place, key, words and what to write instead,
// and returns them together as [*Errors], whatever the text is: a scenario, a
// table, a topology, a schedule or another program's configuration.
//
// Files in reading order: problems.go, errors.go, problem.go, excerpt.go,
// source.go, quote.go, nearest.go, separator.go, divisors.go; invalid.go (whose fault an error is).
package input
