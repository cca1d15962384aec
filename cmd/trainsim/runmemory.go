package main

import (
	"fmt"
	"path/filepath"

	"trainsim/memory"
	"trainsim/plots"
	"trainsim/sim/step"
)

// drawAllocator draws the blocks of the fullest stage's first rank at its peak,
// or where it ran out of memory.
func (r *runCommand) drawAllocator(dir string, job *step.Job, accounts []step.RankMemory, o plots.Options) error {
	if len(accounts) == 0 {
		return nil
	}
	m := &accounts[step.Fullest(accounts)]
	s, err := job.Snapshot(m.Stage, false)
	if err != nil {
		return err
	}
	if len(s.Segments) == 0 {
		return nil
	}
	when := "at its peak"
	if !m.Fits() {
		when = "when it ran out of memory"
	}
	chart := plots.AllocatorChart{Title: fmt.Sprintf("allocator of rank %d (stage %d) %s", m.Rank, m.Stage, when), Segments: segmentsChart(s.Segments)}
	if o.Title == "" {
		o.Title = job.Config.Name
	}
	fig, err := plots.Allocator(chart, o)
	if err != nil {
		return err
	}
	format := o.Format
	if format == "" {
		format = plots.Formats[0]
	}
	path := filepath.Join(dir, "allocator."+format)
	if err := fig.Save(path); err != nil {
		return err
	}
	r.notef("wrote %s", path)
	return nil
}

// segmentsChart is what a figure shows of segments.
func segmentsChart(segments []memory.Segment) []plots.AllocatorSegment {
	out := make([]plots.AllocatorSegment, len(segments))
	for i := range segments {
		for j := range segments[i].Blocks {
			b := &segments[i].Blocks[j]
			out[i].Blocks = append(out[i].Blocks, plots.AllocatorBlock{Bytes: b.Size, Kind: b.Kind.String(), Idle: b.State == memory.Inactive})
		}
	}
	return out
}

// writeSnapshot writes what the fullest stage's first rank allocated, step by
// step, in the form of torch.cuda.memory._dump_snapshot.
func (r *runCommand) writeSnapshot(job *step.Job, accounts []step.RankMemory) error {
	s, err := job.Snapshot(accounts[step.Fullest(accounts)].Stage, true)
	if err != nil {
		return err
	}
	return r.writeFile(r.snapshot, s.WritePickle)
}
