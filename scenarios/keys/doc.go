// Package keys says what the keys of a scenario and the fields of a report mean:
// their units, defaults, ranges and words.
//
// Files in reading order: explain.go looks keys up, keys.go and synonyms.go find
// them, paths.go knows those that a job's Config holds; job.go, framework.go,
// machine.go and memory.go are the keys of scenarios, report.go the fields of reports.
package keys
