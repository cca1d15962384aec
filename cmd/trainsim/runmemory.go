package main

import (
	"io"

	"trainsim/memory/snapshot"
	"trainsim/sim/account"
	"trainsim/sim/job"
)

// writeSnapshot writes what the fullest stage's first rank allocated, step by
// step, in the form of torch.cuda.memory._dump_snapshot.
func (r *runCommand) writeSnapshot(j *job.Job, accounts []account.RankMemory) error {
	s, err := account.Snapshot(j, accounts[account.Fullest(accounts)].Stage, true)
	if err != nil {
		return err
	}
	return r.writeFile(r.snapshot, func(w io.Writer) error { return snapshot.WritePickle(w, s) })
}
