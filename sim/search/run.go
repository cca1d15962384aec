package search

import (
	"context"
	"sync"

	"trainsim/sim/report"
	"trainsim/sim/step"
)

// Options say how a search is run. They change no result.
type Options struct {
	Jobs      int    // simulations at a time; 0 is one a core
	Shard     Shard  // the part of the points to do
	EveryRank bool   // simulate every rank, also those that cannot differ
	MaxEvents uint64 // a point is given up after so many events; 0 is no limit
	// Progress hears how many points are dealt with, of how many. Calls come one
	// at a time, from several goroutines.
	Progress func(done, total int)
}

// simulation is how a point is simulated.
func (o *Options) simulation() step.Options {
	return step.Options{NoRecording: true, Fold: !o.EveryRank, MaxEvents: o.MaxEvents}
}

// Store keeps results as they come: [Rows] in memory, package journal on a disk.
type Store interface {
	// Has reports whether the result of a point is there. One of another
	// scenario, which has another identity, does not count.
	Has(point int, id string) bool
	// Row returns the result of a point that is there.
	Row(point int) (report.SweepRow, error)
	// Add takes a new result. Several goroutines may call it at once.
	Add(row *report.SweepRow) error
}

// Run simulates the points of the shard that the store does not have. What
// cannot run is a result, as is a simulation that fails; only an interruption or a
// store that fails is an error.
func (g *Grid) Run(ctx context.Context, s Store, o Options) error {
	n := o.Shard.Count(g.Len())
	bar := progress{total: n, hear: o.Progress}
	return InParallel(ctx, o.Jobs, n, func(i int) error {
		p := g.Point(o.Shard.Point(i))
		if !s.Has(p.Row.Point, p.Row.ID) {
			if err := p.simulate(ctx, o.simulation()); err != nil {
				return err
			}
			if err := s.Add(&p.Row); err != nil {
				return err
			}
		}
		bar.add(1)
		return nil
	})
}

// progress counts what is done.
type progress struct {
	mu          sync.Mutex
	done, total int
	hear        func(done, total int)
}

func (p *progress) add(n int) {
	if p.hear == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	p.hear(p.done, p.total)
}
