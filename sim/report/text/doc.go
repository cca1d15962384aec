// Package text writes what package report knows for people: reports, reviews in
// Markdown, comparisons, sweeps, plans and scores. It computes nothing.
//
// Files in reading order: report.go, oom.go, markdown.go, compare.go, sweep.go,
// plan.go, score.go.
package text
