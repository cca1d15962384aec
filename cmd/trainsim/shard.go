package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// shard is the part of a sweep that one of several processes runs: the points
// whose number leaves index when divided by of.
type shard struct{ index, of int }

// whole is a sweep that is not split.
var whole = shard{0, 1}

func (s shard) String() string { return fmt.Sprintf("%d/%d", s.index, s.of) }

// folder returns where the shard writes when the whole sweep goes to dir.
func (s shard) folder(dir string) string {
	if s == whole {
		return dir
	}
	return filepath.Join(dir, fmt.Sprintf("shard-%d-of-%d", s.index, s.of))
}

// count returns how many of n points are the shard's.
func (s shard) count(n int) int { return (n - s.index + s.of - 1) / s.of }

// shardFlag gives a command --shard.
func shardFlag(f *pflag.FlagSet, text *string) {
	f.StringVar(text, "shard", "", "run only part `I/N` of the points, I from 0 to N-1, into a folder of its own (see merge); "+
		"without it taken from a Slurm array job or an indexed Kubernetes job; 0/1 is all")
}

// Environment variables that say which shard a process is.
const (
	slurmTask  = "SLURM_ARRAY_TASK_ID"
	kubeIndex  = "JOB_COMPLETION_INDEX"
	shardCount = "TRAINSIM_SHARDS" // the number of shards, where the environment does not say
)

// findShard reads --shard or, without it, the environment; from names the
// variable that decided, "" for the flag.
func findShard(text string, env func(string) string) (s shard, from string, err error) {
	switch {
	case text != "":
		s, err = parseShard(text)
		return s, "", err
	case env(slurmTask) != "":
		s, err = slurmShard(env)
		return s, slurmTask, err
	case env(kubeIndex) != "":
		s, err = countedShard(kubeIndex, env)
		return s, kubeIndex, err
	}
	return whole, "", nil
}

func parseShard(text string) (shard, error) {
	i, n, ok := strings.Cut(text, "/")
	index, err1 := strconv.Atoi(i)
	of, err2 := strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil || index < 0 || of < 1 || index >= of {
		return whole, usagef("--shard %q: write I/N with I from 0 to N-1, as in 0/4", text)
	}
	return shard{index, of}, nil
}

// countedShard is a task that knows its index and is told the count.
func countedShard(variable string, env func(string) string) (shard, error) {
	s, err := parseShard(env(variable) + "/" + env(shardCount))
	if err != nil {
		return s, usagef("%s=%q needs %s, the number of tasks, above it (it is %q); set it, or write --shard I/N (--shard 0/1 for all points)",
			variable, env(variable), shardCount, env(shardCount))
	}
	return s, nil
}

// slurmShard is a task of an array job. Its count is that of the array unless
// it is given, as it has to be where single tasks are submitted again.
func slurmShard(env func(string) string) (shard, error) {
	if env(shardCount) != "" {
		return countedShard(slurmTask, env)
	}
	number := func(name string, missing int) int {
		if env(name) == "" {
			return missing
		}
		n, err := strconv.Atoi(env(name))
		if err != nil {
			return -1
		}
		return n
	}
	id, first := number(slurmTask, -1), number("SLURM_ARRAY_TASK_MIN", 0)
	last, step := number("SLURM_ARRAY_TASK_MAX", -1), number("SLURM_ARRAY_TASK_STEP", 1)
	if id < 0 || first < 0 || last < id || step < 1 || id < first || (id-first)%step != 0 {
		return whole, usagef("the array job's %s=%q is not in a range that its other variables tell; write --shard I/N", slurmTask, env(slurmTask))
	}
	s := shard{(id - first) / step, (last-first)/step + 1}
	if n := number("SLURM_ARRAY_TASK_COUNT", s.of); n != s.of {
		return whole, usagef("the array job has %d tasks from %d to %d, so that some are missing; submit a range such as 0-6, or set %s to the number of shards",
			n, first, last, shardCount)
	}
	return s, nil
}

// environmentShard is findShard with the process's environment; it says on
// stderr when the environment decided.
func (a *app) environmentShard(text string) (shard, error) {
	s, from, err := findShard(text, os.Getenv)
	if err == nil && from != "" {
		a.notef("shard %v, from %s", s, from)
	}
	return s, err
}
