// Package bench times collectives over a range of sizes as nccl-tests does, alone
// or beside other collectives that share their links.
//
// Files in reading order: bench.go (what is timed, and the table), neighbours.go
// (what runs beside it), contended.go (the simulation of both) and sizes.go (how
// sizes and ranks are written).
package bench
