package schedule

import "context"

// Kind is one schedule that can be built: what lists say of it, and its
// generator. Package schedule/kinds has all of them.
type Kind struct {
	Name        string   // canonical name
	Aliases     []string // what systems and papers call it
	Summary     string   // one line
	Constraint  string   // which counts it takes
	Chunks      int      // model chunks a rank: the default, or all there is where FixedChunks is set
	FixedChunks bool     // Chunks is the schedule's own and cannot be chosen

	// Generate makes the program for counts that passed the checks of Build.
	// It refuses those that only this schedule cannot take by Request.Refuse.
	Generate func(*Request) (*Program, error)
}

// Build makes the program of the schedule. Counts that the schedule cannot take
// are a *CountError. A schedule that takes long to build gives up with the
// context's error when that is done.
func (k *Kind) Build(ctx context.Context, o Options) (*Program, error) {
	req := &Request{Options: o, Kind: k, ctx: ctx}
	if err := req.check(); err != nil {
		return nil, err
	}
	return k.Generate(req)
}

// Request is what a generator builds from: the counts and costs asked for, with
// the defaults that all schedules share filled in.
type Request struct {
	Options
	Kind *Kind

	ctx context.Context
}

// Err returns the error of the context in which the schedule is built. A
// generator whose work grows faster than its program asks for it now and then
// and returns it.
func (req *Request) Err() error { return req.ctx.Err() }

// Program returns a synchronous program with empty lists.
func (req *Request) Program(chunks int, place Placement) *Program {
	return &Program{
		Kind: req.Kind.Name, Ranks: req.Ranks, Microbatches: req.Microbatches, Chunks: chunks,
		Placement: place, Batches: 1, Lists: make([][]Action, req.Ranks),
	}
}
