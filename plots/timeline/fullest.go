package timeline

import "trainsim/sim/trace"

// use is what a rank has allocated, and the most that it had.
type use struct {
	rank      int
	now, peak int64
}

// FullestRank returns the rank whose allocated bytes of all kinds reach
// highest; the lowest of equals. Without any it returns false.
func FullestRank(r *trace.Recording) (int, bool) {
	uses, slot := rankUses(r)
	value := make([]int64, len(r.Counters))
	for _, s := range r.Samples() {
		if s.Counter < 0 || int(s.Counter) >= len(slot) || slot[s.Counter] < 0 {
			continue
		}
		u := &uses[slot[s.Counter]]
		u.now += s.Value - value[s.Counter]
		value[s.Counter] = s.Value
		u.peak = max(u.peak, u.now)
	}
	best := use{}
	for _, u := range uses {
		if u.peak > best.peak || u.peak == best.peak && u.peak > 0 && u.rank < best.rank {
			best = u
		}
	}
	return best.rank, best.peak > 0
}

// rankUses makes an account for each rank with memory counters, and says which
// account a counter belongs to; -1 for none.
func rankUses(r *trace.Recording) ([]use, []int) {
	at := map[int]int{} // rank -> index into uses
	var uses []use
	slot := make([]int, len(r.Counters))
	for i, c := range r.Counters {
		slot[i] = -1
		if c.Kind != trace.MemoryByKind {
			continue
		}
		if _, ok := at[c.Rank]; !ok {
			at[c.Rank] = len(uses)
			uses = append(uses, use{rank: c.Rank})
		}
		slot[i] = at[c.Rank]
	}
	return uses, slot
}
