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
	Placement   Placement
	ByCosts     bool // its order follows from Options.Costs

	// Check refuses counts that only this schedule cannot take, by
	// Request.Refuse, and fills in those that it chooses itself. Nil: it takes
	// all that Build lets through.
	Check func(*Request) error
	// Fill gives each rank of an empty program its list.
	Fill func(*Request, *Program) error
}

// Build makes the program of the schedule. Counts that the schedule cannot take
// are a *CountError. A schedule that takes long to build gives up with the
// context's error when that is done.
func (k *Kind) Build(ctx context.Context, o Options) (*Program, error) {
	req, p, err := k.outline(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := k.Fill(req, p); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return p, nil
}

// Outline checks the counts as Build does and returns the program without its
// lists: ranks, chunks and stages.
func (k *Kind) Outline(o Options) (*Program, error) {
	_, p, err := k.outline(context.Background(), o)
	return p, err
}

func (k *Kind) outline(ctx context.Context, o Options) (*Request, *Program, error) {
	req := &Request{Options: o, Kind: k, ctx: ctx}
	if err := req.check(); err != nil {
		return nil, nil, err
	}
	p := &Program{
		Kind: k.Name, Ranks: req.Ranks, Microbatches: req.Microbatches, Chunks: req.VirtualStages,
		Placement: k.Placement, Batches: 1, Lists: make([][]Action, req.Ranks),
	}
	return req, p, nil
}

// Request is what a schedule is built from: the counts and costs asked for, with
// the defaults filled in.
type Request struct {
	Options
	Kind *Kind

	ctx context.Context
}

// Err returns the error of the context in which the schedule is built. A Fill
// whose work grows faster than its program asks for it now and then and returns
// it.
func (req *Request) Err() error { return req.ctx.Err() }

// Context returns the context in which the schedule is built.
func (req *Request) Context() context.Context { return req.ctx }
