package step

import (
	"context"

	"trainsim/memory"
)

// Snapshot replays the allocations of a stage's first rank once more and
// returns the allocator as torch.cuda.memory._snapshot would: its segments when
// most was allocated, or when an allocation failed, and with history every
// request so far.
func (j *Job) Snapshot(stage int, history bool) (*memory.Snapshot, error) {
	a, err := j.newAccount(stage, int64(j.Config.GPU.Memory), func(c *memory.Config) { c.KeepPeak, c.Trace = true, history })
	if err != nil {
		return nil, err
	}
	failed := a.run(context.Background()) != nil
	s := a.alloc.Snapshot()
	if !failed {
		s.Segments = a.alloc.SegmentsAtPeak()
	}
	return s, nil
}

// Fullest returns the stage whose account has the largest share of its device.
func Fullest(accounts []RankMemory) int {
	most := 0
	for i := range accounts {
		if accounts[i].NvidiaSMI() > accounts[most].NvidiaSMI() {
			most = i
		}
	}
	return most
}
