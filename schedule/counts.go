package schedule

import (
	"fmt"
	"strconv"
	"strings"
)

// maxActions bounds the actions of one program, so that a slip in a count is
// an error and not an exhausted machine (8 bytes each: 1 GiB).
const maxActions = 1 << 27

// CountError says that a schedule cannot take a count.
type CountError struct {
	Kind    string // canonical name of the schedule
	Count   string // which count: "microbatches", "ranks", "virtual stages", "group size", ...
	Got     int
	Rule    string // the rule that Got breaks
	Nearest []int  // the nearest counts that the schedule can take, ascending; may be empty
}

// Error names the rule and what to write instead.
func (e *CountError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "schedule %s: %s = %d: %s", e.Kind, e.Count, e.Got, e.Rule)
	if len(e.Nearest) > 0 {
		words := make([]string, len(e.Nearest))
		for i, n := range e.Nearest {
			words[i] = strconv.Itoa(n)
		}
		fmt.Fprintf(&b, "; write %s", strings.Join(words, " or "))
	}
	return b.String()
}

// countSearch is how far above a refused count the nearest valid one is
// looked for; every rule here is periodic in a smaller number or a lower bound.
const countSearch = 1 << 16

// countError returns a CountError with the nearest counts below and above got
// that ok accepts.
func countError(kind, count string, got int, rule string, ok func(int) bool) error {
	e := &CountError{Kind: kind, Count: count, Got: got, Rule: rule}
	for n := min(got-1, countSearch); n >= 1; n-- {
		if ok(n) {
			e.Nearest = append(e.Nearest, n)
			break
		}
	}
	for n := max(got+1, 1); n <= max(got, 0)+countSearch; n++ {
		if ok(n) {
			e.Nearest = append(e.Nearest, n)
			break
		}
	}
	return e
}

// atLeast refuses a count below low.
func atLeast(kind, count string, got, low int, why string) error {
	if got >= low {
		return nil
	}
	return &CountError{Kind: kind, Count: count, Got: got, Rule: fmt.Sprintf("at least %d (%s)", low, why), Nearest: []int{low}}
}

// checkBasic refuses counts that no schedule takes and fills in the defaults.
func (k *Kind) checkBasic(o *Options) error {
	if err := atLeast(k.Name, "ranks", o.Ranks, 1, "a pipeline has a rank"); err != nil {
		return err
	}
	if err := atLeast(k.Name, "microbatches", o.Microbatches, 1, "a step has a micro-batch"); err != nil {
		return err
	}
	if o.VirtualStages == 0 {
		o.VirtualStages = k.chunks
	}
	if err := k.checkChunks(o.VirtualStages); err != nil {
		return err
	}
	if o.Costs.isZero() {
		pair := o.Costs.Pair
		o.Costs = UnitCosts()
		o.Costs.Pair = pair
	}
	return k.checkSize(o)
}

func (k *Kind) checkChunks(v int) error {
	if k.FixedChunks && v != k.chunks {
		rule := fmt.Sprintf("this schedule has %d model chunks a rank", k.chunks)
		return &CountError{Kind: k.Name, Count: "virtual stages", Got: v, Rule: rule, Nearest: []int{k.chunks}}
	}
	if v < 1 || v > 1<<14 {
		return &CountError{Kind: k.Name, Count: "virtual stages", Got: v, Rule: "between 1 and 16384 model chunks a rank", Nearest: []int{k.chunks}}
	}
	return nil
}

func (k *Kind) checkSize(o *Options) error {
	if o.GroupSize < 0 || o.MemoryCap < 0 || o.Batches < 0 {
		return fmt.Errorf("schedule %s: group size, memory cap and batches are at least 0, where 0 is the schedule's default", k.Name)
	}
	if !(o.WeightShare >= 0 && o.WeightShare <= 1) {
		return fmt.Errorf("schedule %s: weight share %g; write a share of the activations between 0 and 1", k.Name, o.WeightShare)
	}
	size := 3 * float64(o.Ranks) * float64(o.Microbatches) * float64(o.VirtualStages) * float64(max(1, o.Batches))
	if size > maxActions {
		return fmt.Errorf("schedule %s: %d ranks, %d micro-batches and %d chunks are %.3g actions; a program holds at most %d", k.Name, o.Ranks, o.Microbatches, o.VirtualStages, size, maxActions)
	}
	return nil
}
