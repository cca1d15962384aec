// Package report turns what a run did into what its user asked for: step time
// and throughput, where each stage's time goes, the bubble by cause, memory,
// communication, and advice that names the change. It also holds what is made of
// many runs: comparisons, sweeps, plans and scores. Each is a document with a JSON
// schema; package text writes it for people.
//
// To add a finding, write a function in advice.go and add it to the list of
// advise; to add a part of a stage's step, add it to the table in stagetime.go.
//
// Files in reading order: types.go (the report of a run), stagetime.go, build.go,
// phases.go, advice.go, fixes.go, assumptions.go, kinds.go, name.go; run.go (a run
// and its file), check.go; compare.go, cases.go; metrics.go (what is kept of each of many runs),
// sweep.go, sweepdoc.go, sweepsummary.go, sweepcurve.go; plan.go,
// plancsv.go; score.go, predict.go.
package report
