package schedule

import (
	"slices"
)

// csvKind is the Kind of programs that were read from a file.
const csvKind = "csv"

// place infers ranks, chunks, micro-batches and placement from the stages that
// each row names.
func (f *file) place() (*Program, error) {
	stages, last, err := f.stagesOfRows()
	if err != nil {
		return nil, err
	}
	p := &Program{Kind: csvKind, Ranks: len(f.rows), Chunks: len(stages[0]), Microbatches: last + 1, Batches: 1}
	if f.isBidirectional(p, stages) {
		p.Placement = Bidirectional
		if p.Microbatches%2 != 0 {
			return nil, f.errorf(0, nil, "two directions share %d micro-batches; write an even number, the first "+
				"half for the direction that enters at the first row", p.Microbatches)
		}
		return p, nil
	}
	if err := f.checkStages(p, stages); err != nil {
		return nil, err
	}
	p.Placement = placementOf(p, stages)
	if p.Placement == Custom {
		for _, row := range stages {
			for _, s := range row {
				p.stages = append(p.stages, int32(s))
			}
		}
	}
	return p, nil
}

// stagesOfRows returns the sorted stages of each row and the last micro-batch.
// A file cannot have more micro-batches than cells, which bounds what a slip
// in a number can cost.
func (f *file) stagesOfRows() (stages [][]int, last int, err error) {
	cells := 0
	for _, row := range f.rows {
		cells += len(row)
	}
	stages = make([][]int, len(f.rows))
	for r, row := range f.rows {
		for i := range row {
			c := &row[i]
			if c.microbatch >= cells {
				return nil, 0, f.errorf(r, c, "micro-batch %d, but the file has only %d actions; micro-batches "+
					"count from 0", c.microbatch, cells)
			}
			last = max(last, c.microbatch)
			if at, found := slices.BinarySearch(stages[r], c.stage); !found {
				stages[r] = slices.Insert(stages[r], at, c.stage)
			}
		}
		if len(stages[r]) == 0 {
			return nil, 0, f.errorf(r, nil, "no action; every rank runs at least one stage")
		}
		if len(stages[r]) != len(stages[0]) {
			return nil, 0, f.errorf(r, nil, "stages %v, while row 1 has %v; every rank holds the same number of "+
				"stages", stages[r], stages[0])
		}
	}
	return stages, last, nil
}

// isBidirectional reports whether each row holds its own stage and the one
// opposite, so that every stage is on two ranks.
func (f *file) isBidirectional(p *Program, stages [][]int) bool {
	if p.Chunks != 2 || p.Ranks%2 != 0 {
		return false
	}
	for r, row := range stages {
		opposite := p.Ranks - 1 - r
		if row[0] != min(r, opposite) || row[1] != max(r, opposite) {
			return false
		}
	}
	return true
}

// checkStages demands each of the stages 0 to S-1 on one rank.
func (f *file) checkStages(p *Program, stages [][]int) error {
	owner := make([]int, p.Stages())
	for r, row := range stages {
		for _, s := range row {
			switch {
			case s >= len(owner):
				return f.errorf(r, f.cellOf(r, s), "stage %d; %d ranks with %d stages each have stages 0 to %d", s,
					p.Ranks, p.Chunks, len(owner)-1)
			case owner[s] != 0:
				return f.errorf(r, f.cellOf(r, s), "stage %d is on row %d too; a stage lives on one rank", s, owner[s])
			}
			owner[s] = r + 1
		}
	}
	return nil
}

func (f *file) cellOf(row, stage int) *cell {
	i := slices.IndexFunc(f.rows[row], func(c cell) bool { return c.stage == stage })
	return &f.rows[row][i]
}

// placementOf names the placement of the stages, Custom if it has no name.
func placementOf(p *Program, stages [][]int) Placement {
	for _, place := range []Placement{Loop, Wave} {
		q := Program{Ranks: p.Ranks, Chunks: p.Chunks, Placement: place}
		fits := true
		for r, row := range stages {
			for c, s := range row {
				fits = fits && q.Stage(r, c) == s
			}
		}
		if fits {
			return place
		}
	}
	return Custom
}

// complete reports the first chunk that lacks forwards. It comes before Check,
// whose tables take space for all micro-batches of all stages.
func (f *file) complete(p *Program) error {
	perPipe := p.PipeMicrobatches()
	for rank, list := range p.Lists {
		counts := make([]int, p.Chunks)
		for _, a := range list {
			if a.Op == Forward {
				counts[a.Chunk]++
			}
		}
		for chunk, n := range counts {
			if n < perPipe {
				return f.missingForward(p, rank, chunk)
			}
		}
	}
	return nil
}

func (f *file) missingForward(p *Program, rank, chunk int) error {
	seen := make([]bool, p.PipeMicrobatches())
	for _, a := range p.Lists[rank] {
		if a.Op == Forward && int(a.Chunk) == chunk {
			seen[a.Microbatch] = true
		}
	}
	a := Forward.At(slices.Index(seen, false), chunk)
	return f.errorf(rank, nil, "%s is missing; the file's last micro-batch is %d, and each passes through every stage",
		p.stepToken(rank, Step{Action: a}), p.Microbatches-1)
}
