// Command trainsim simulates distributed training steps: how long a step is,
// where the time goes, how large the pipeline bubble is, how much memory each
// GPU needs, whether the job fits, and what to change.
//
// Results go to stdout; progress, warnings and wall-clock times go to stderr.
// The exit code is 0 when done, 1 on a failure of trainsim or of input/output,
// 2 on wrong usage, 3 on an invalid scenario or input file, 4 when a valid
// scenario cannot run (out of memory, deadlock), and 130 when interrupted.
package main
