// Package measured reads tables of what was measured, predicts every row and
// scores the predictions.
//
// [Read] knows a table by its header: training runs, peak memory of single ranks,
// kernels or collectives, or what nccl-tests prints. [Predict] fills in the
// predictions and [NewScore] the errors. A row that is wrong or lacks something is
// kept, with the reason; a table that is wrong is an [*input.Errors].
//
// To add a table: its columns in columns.go; a file with what knows it by its
// header and what makes a [Row] of each of its lines, each with a function that
// predicts; and both of these in formats of tables.go. `validate` and its help
// follow, the README says what the columns mean. A column of training runs is an
// entry in columns.go and the line that reads it, in job.go, schedule.go or
// software.go.
//
// Files in reading order: tables.go tells tables apart, score.go and doubts.go
// score their rows. runs.go, rankmemory.go and ranktable.go are tables of training
// runs and of single ranks' memory, of which job.go, schedule.go and software.go make jobs;
// kernels.go, kernelrows.go and kernelcells.go are tables of kernels;
// collectives.go, nccltests.go, ncclwords.go and communicators.go of collectives.
// presets.go, row.go, table.go, cells.go and columns.go are what all of them need.
package measured
