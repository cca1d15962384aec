// Package report turns what a run did into what its user asked for: step time
// and throughput, where each stage's time goes, the bubble by cause, memory,
// communication, and advice that names the change. It renders as JSON (schema
// trainsim.report/v1) and as text.
package report
