package kinds

import (
	"fmt"

	"trainsim/schedule"
)

// interleavedKinds are the depth-first schedules on several chunks a rank.
func interleavedKinds() []schedule.Kind {
	return []schedule.Kind{
		{
			Name: "interleaved", Aliases: []string{"interleaved-1f1b", "1f1b-interleaved", "1f1b-i",
				"ScheduleInterleaved1F1B", "vpp", "virtual-pipeline", "with-interleaving", "depth-first"},
			Summary: "1F1B over v chunks a rank: bubble divided by v, messages times v (Megatron's virtual " +
				"pipeline)",
			Constraint: "m a multiple of p, or a group size N with p <= N <= m and m mod N = 0 or >= p (Megatron), " +
				"or m a multiple of max(1, m/p) (torch)",
			Chunks: 2, Check: checkInterleaved, Fill: fillInterleaved,
		},
		{
			Name: "interleaved-moe-overlap", Aliases: []string{"interleaved-1f1b-moe-overlap",
				"overlap-moe-expert-parallel-comm"},
			Summary: "interleaved with one more warm-up forward and each steady F and B as an overlapped pair " +
				"(Megatron's expert overlap)",
			Constraint: "as interleaved", Chunks: 2, Check: checkInterleaved, Fill: fillInterleaved,
		},
		{
			Name: "grouped-interleaved", Aliases: []string{"pipeoffload", "interleave-group"},
			Summary: "groups of G micro-batches through all chunks with split backwards, for offloading between " +
				"uses (PipeOffload)",
			Constraint: "any p, m; group size from about p/2 to p", Chunks: 2, ByCosts: true, Check: checkGrouped,
			Fill: fillGrouped,
		},
	}
}

func checkInterleaved(req *schedule.Request) (err error) {
	req.GroupSize, err = groupSize(req)
	return err
}

func fillInterleaved(req *schedule.Request, p *schedule.Program) error {
	p.GroupSize = req.GroupSize
	p.Lists = interleavedLists(req.Ranks, req.Microbatches, req.VirtualStages, p.GroupSize,
		req.Kind.Name == "interleaved-moe-overlap")
	return nil
}

// interleavedLists returns the lists of interleaved 1F1B for any group size n,
// also for those that leave larger bubbles or deadlock.
func interleavedLists(p, m, v, n int, pairs bool) [][]schedule.Action {
	forwards := depthFirst(m, v, n)
	backwards := backwardOrder(forwards, v)
	lists := make([][]schedule.Action, p)
	for r := range lists {
		warm := 2*(p-1-r) + (v-1)*n
		if pairs {
			warm++
		}
		lists[r] = interleave(forwards, backwards, min(len(forwards), warm), pairs)
	}
	return lists
}

// depthFirst returns the order of forwards on every rank: n micro-batches
// through chunk 0, the same through chunk 1 and so on, then the next n.
func depthFirst(m, v, n int) []schedule.Action {
	order := make([]schedule.Action, 0, m*v)
	for g := 0; g < m; g += n {
		for c := range v {
			for mb := g; mb < min(g+n, m); mb++ {
				order = append(order, schedule.Forward.At(mb, c))
			}
		}
	}
	return order
}

// backwardOrder returns the order of backwards on every rank: the chunks of
// the forwards mirrored, each chunk's micro-batches first in, first out.
func backwardOrder(forwards []schedule.Action, v int) []schedule.Action {
	next := make([]int, v)
	order := make([]schedule.Action, len(forwards))
	for i, f := range forwards {
		c := v - 1 - int(f.Chunk)
		order[i] = schedule.Backward.At(next[c], c)
		next[c]++
	}
	return order
}

// interleave returns warm forwards, one forward and one backward in turn, and
// the remaining backwards.
func interleave(forwards, backwards []schedule.Action, warm int, pairs bool) []schedule.Action {
	list := make([]schedule.Action, 0, 2*len(forwards))
	list = append(list, forwards[:warm]...)
	steady := len(forwards) - warm
	for i := range steady {
		f := forwards[warm+i]
		f.Pair = pairs
		list = append(list, f, backwards[i])
	}
	return append(list, backwards[steady:]...)
}

// groupSize returns the micro-batches that go through one chunk before the
// next, as asked for or as the system chooses, or says why there is none.
func groupSize(req *schedule.Request) (int, error) {
	p, m, n := req.Ranks, req.Microbatches, req.GroupSize
	if n == 0 {
		return defaultGroup(req)
	}
	megatron := req.System != schedule.Torch && megatronGroup(p, m, n)
	torch := req.System != schedule.Megatron && torchGroup(p, m) == n
	if megatron || torch || req.VirtualStages == 1 {
		return n, nil
	}
	if req.System == schedule.Torch {
		return 0, torchGroupError(req, n)
	}
	if m < p {
		return 0, req.Refuse("microbatches", m, fmt.Sprintf("a group size from the %d ranks to m", p),
			func(x int) bool { return x >= p })
	}
	rule := fmt.Sprintf("between the %d ranks and the %d micro-batches, with m mod N = 0 or >= %d (Megatron)", p, m, p)
	return 0, req.Refuse("group size", n, rule, func(x int) bool { return megatronGroup(p, m, x) })
}

func torchGroupError(req *schedule.Request, n int) error {
	m, want := req.Microbatches, torchGroup(req.Ranks, req.Microbatches)
	if want == 0 {
		return indivisible(req)
	}
	rule := fmt.Sprintf("torch: m / max(1, m/p) of the %d micro-batches", m)
	return req.Refuse("group size", n, rule, func(x int) bool { return x == want })
}

// defaultGroup chooses the group size that the system would.
func defaultGroup(req *schedule.Request) (int, error) {
	p, m := req.Ranks, req.Microbatches
	if req.System == schedule.Megatron {
		if m%p == 0 {
			return p, nil
		}
		rule := fmt.Sprintf("a multiple of the %d ranks (Megatron's default group size)%s", p, groupHint(p, m))
		return 0, req.Refuse("microbatches", m, rule, func(x int) bool { return x%p == 0 })
	}
	if n := torchGroup(p, m); n > 0 {
		return n, nil
	}
	if req.VirtualStages == 1 {
		return min(p, m), nil
	}
	return 0, indivisible(req)
}

func indivisible(req *schedule.Request) error {
	p, m := req.Ranks, req.Microbatches
	rule := fmt.Sprintf("a multiple of the %d rounds, max(1, m/p)%s", max(1, m/p), groupHint(p, m))
	if req.System == schedule.Torch {
		rule = fmt.Sprintf("torch: a multiple of the %d rounds, max(1, m/p)", max(1, m/p))
	}
	return req.Refuse("microbatches", m, rule, func(x int) bool { return torchGroup(p, x) > 0 })
}

// groupHint names the smallest group size that would make m valid.
func groupHint(p, m int) string {
	for n := p; n <= m; n++ {
		if megatronGroup(p, m, n) {
			return fmt.Sprintf(", or a group size such as %d", n)
		}
	}
	return ""
}

// megatronGroup is Megatron core's rule: a short last group must still have a
// micro-batch for every rank.
func megatronGroup(p, m, n int) bool {
	return p <= n && n <= m && (m%n == 0 || m%n >= p)
}

// torchGroup returns torch's group size, m over its rounds, or 0 where the
// rounds do not divide m.
func torchGroup(p, m int) int {
	rounds := max(1, m/p)
	if m%rounds != 0 {
		return 0
	}
	return m / rounds
}
