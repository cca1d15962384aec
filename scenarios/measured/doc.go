// Package measured reads tables of what was measured, predicts every row and
// scores the predictions.
//
// [Read] knows a table by its header: training runs, peak memory of single ranks,
// kernels or collectives, or what nccl-tests prints. [Predict] fills in the
// predictions and [NewScore] the errors. A row that is wrong or lacks something is
// kept, with the reason; a table that is wrong is an [*input.Errors].
//
// Files in reading order: tables.go tells tables apart, score.go and doubts.go
// score their rows, row.go is one of them. runs.go, job.go and schedule.go make
// jobs of training runs; rankmemory.go and ranktable.go add peak memory of single
// ranks; kernels.go, kernelrows.go and kernelcells.go are tables of kernels;
// collectives.go, nccltests.go, ncclwords.go and communicators.go of collectives.
// presets.go, columns.go, table.go and cells.go read what they all are made of.
package measured
