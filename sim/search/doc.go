// Package search looks for good training jobs by simulating many: a [Grid] varies
// keys of a scenario along axes, a [Planner] searches the layouts of a job by
// branch and bound, [FindLargest] finds the largest value of a key that fits into
// memory. Results do not depend on the number of workers, and those of shards
// are together those of the whole.
//
// Results go into a [Store]: [Rows] in memory, or package journal's file, from
// which an interrupted search goes on.
//
// Files in reading order: run.go (options, stores, the sweep of a grid), grid.go,
// axis.go, range.go, point.go, shard.go, rows.go, parallel.go; planner.go,
// evaluate.go, ranking.go (what a plan keeps), space.go, layout.go, layouts.go (what
// there is to choose from); largest.go.
package search
