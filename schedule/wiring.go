package schedule

// wiring holds a program's placement as tables, so that replaying a list costs
// an index and not a division for each action. Tables are indexed by
// rank*Chunks + chunk.
type wiring struct {
	chunks   int
	perPipe  int     // micro-batches of one pipe
	cells    int     // stages of all pipes times perPipe
	base     []int   // cell of micro-batch 0
	prevBase []int   // base of the stage before; -1 for the first stage
	nextBase []int   // base of the stage after; -1 for the last stage
	prevRank []int32 // rank of the stage before, or -1
	nextRank []int32 // rank of the stage after, or -1
}

func newWiring(p *Program) *wiring {
	n := p.Ranks * p.Chunks
	w := &wiring{
		chunks: p.Chunks, perPipe: p.PipeMicrobatches(),
		base: make([]int, n), prevBase: make([]int, n), nextBase: make([]int, n),
		prevRank: make([]int32, n), nextRank: make([]int32, n),
	}
	stages := p.Stages()
	w.cells = stages * p.Pipes() * w.perPipe
	rankOf := make([]int32, stages*p.Pipes())
	for i := range n {
		rankOf[p.Pipe(i%p.Chunks)*stages+p.Stage(i/p.Chunks, i%p.Chunks)] = int32(i / p.Chunks)
	}
	for i := range n {
		stage := p.Stage(i/p.Chunks, i%p.Chunks)
		at := p.Pipe(i%p.Chunks)*stages + stage
		w.base[i] = at * w.perPipe
		w.prevBase[i], w.prevRank[i] = -1, -1
		w.nextBase[i], w.nextRank[i] = -1, -1
		if stage > 0 {
			w.prevBase[i], w.prevRank[i] = (at-1)*w.perPipe, rankOf[at-1]
		}
		if stage < stages-1 {
			w.nextBase[i], w.nextRank[i] = (at+1)*w.perPipe, rankOf[at+1]
		}
	}
	return w
}

// slot returns the table index of an action's chunk on a rank.
func (w *wiring) slot(rank int, a Action) int { return rank*w.chunks + int(a.Chunk) }

// input returns what an action waits for on another stage: the cell, the rank
// that fills it, and whether it waits at all. A W waits only for its own rank.
func (w *wiring) input(slot int, a Action) (cell int, rank int32, waits bool) {
	switch a.Op {
	case Forward:
		cell, rank = w.prevBase[slot], w.prevRank[slot]
	case BackwardInput, Backward:
		cell, rank = w.nextBase[slot], w.nextRank[slot]
	default:
		return 0, -1, false
	}
	return cell + int(a.Microbatch), rank, rank >= 0
}

// output returns the rank that waits for an action's result, or -1.
func (w *wiring) output(slot int, a Action) int32 {
	switch a.Op {
	case Forward:
		return w.nextRank[slot]
	case BackwardInput, Backward:
		return w.prevRank[slot]
	}
	return -1
}

// workList is a first-in first-out queue of ranks that may be able to go on;
// a rank is in it once at most, so it never grows.
type workList struct {
	ring   []int32
	queued []bool
	head   int
	count  int
}

func newWorkList(ranks int) *workList {
	q := &workList{ring: make([]int32, ranks), queued: make([]bool, ranks)}
	for r := range ranks {
		q.push(int32(r))
	}
	return q
}

func (q *workList) push(rank int32) {
	if q.queued[rank] {
		return
	}
	q.queued[rank] = true
	tail := q.head + q.count
	if tail >= len(q.ring) {
		tail -= len(q.ring)
	}
	q.ring[tail] = rank
	q.count++
}

func (q *workList) pop() (rank int, ok bool) {
	if q.count == 0 {
		return 0, false
	}
	r := q.ring[q.head]
	q.head++
	if q.head == len(q.ring) {
		q.head = 0
	}
	q.count--
	q.queued[r] = false
	return int(r), true
}

// unit returns how many entries of list run together at position i: 2 for an
// overlapped pair, else 1.
func unit(list []Action, i int) int {
	if list[i].Pair {
		return 2
	}
	return 1
}
