package main

import (
	"io"

	"trainsim/memory/snapshot"
	"trainsim/sim/step"
)

// writeSnapshot writes what the fullest stage's first rank allocated, step by
// step, in the form of torch.cuda.memory._dump_snapshot.
func (r *runCommand) writeSnapshot(job *step.Job, accounts []step.RankMemory) error {
	s, err := job.Snapshot(accounts[step.Fullest(accounts)].Stage, true)
	if err != nil {
		return err
	}
	return r.writeFile(r.snapshot, func(w io.Writer) error { return snapshot.WritePickle(w, s) })
}
