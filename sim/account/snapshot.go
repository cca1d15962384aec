package account

import (
	"context"

	"trainsim/memory"
	"trainsim/sim/job"
	"trainsim/sim/trace"
)

// Snapshot replays the allocations of a stage's first rank once more and
// returns the allocator as torch.cuda.memory._snapshot would: its segments when
// most was allocated, or when an allocation failed, and with history every
// request up to then.
func Snapshot(j *job.Job, stage int, history bool) (*memory.Snapshot, error) {
	a, err := newReplay(
		j, stage, int64(j.Config.GPU.Memory), func(c *memory.Config) { c.KeepPeak, c.Trace = true, history },
	)
	if err != nil {
		return nil, err
	}
	if a.run(context.Background()) != nil {
		return a.alloc.Snapshot(), nil
	}
	return a.alloc.SnapshotAtPeak(), nil
}

// Blocks returns the fullest device's allocator as a recording keeps it: what
// is in use for one kind beside each other is one block.
func Blocks(j *job.Job, accounts []RankMemory) (*trace.Blocks, error) {
	m := &accounts[Fullest(accounts)]
	s, err := Snapshot(j, m.Stage, false)
	if err != nil {
		return nil, err
	}
	out := &trace.Blocks{
		Rank: m.Rank, Stage: m.Stage, Failed: !m.Fits(), Segments: make([][]trace.Block, len(s.Segments)),
	}
	for i := range s.Segments {
		list := out.Segments[i]
		for _, b := range s.Segments[i].Blocks {
			x := trace.Block{Bytes: b.Size}
			if b.State != memory.Inactive {
				x.Kind = b.Kind.String()
			}
			if n := len(list); n > 0 && x.Kind != "" && list[n-1].Kind == x.Kind {
				list[n-1].Bytes += x.Bytes
				continue
			}
			list = append(list, x)
		}
		out.Segments[i] = list
	}
	return out, nil
}
