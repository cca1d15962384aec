// Package measured reads tables of what was measured, and fits presets to them.
//
// A row of a table becomes the job, the collective or the machine that was
// measured, with the measured figures beside it. A row that is wrong or lacks
// something is kept, with the reason; a table that is wrong is an
// [*scenarios.Errors].
//
// Files in reading order: runs.go, columns.go, cells.go, job.go and schedule.go
// are tables of training runs; rankmemory.go adds peak memory of single ranks;
// collectives.go, machines.go, ncclwords.go and nccltests.go are tables of
// collectives and what nccl-tests prints; fit.go and fitlinks.go fit a cluster's
// links to them.
package measured
