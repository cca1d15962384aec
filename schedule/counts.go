package schedule

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxActions bounds the actions of one program, three for each micro-batch on
// each chunk of each rank, so that a slip in a count is an error and not an
// exhausted machine: to build, check and execute one takes about 55 bytes each.
const MaxActions = 1 << 23

// maxChunks bounds the model chunks a rank; Action.Chunk has 16 bits.
const maxChunks = 1 << 14

// CountError says that a schedule cannot take a count.
type CountError struct {
	Kind    string // canonical name of the schedule
	Count   string // "microbatches", "ranks", "virtual stages", "group size", "memory cap" or "batches"
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
// looked for; every rule of a schedule is periodic in a smaller number or a
// lower bound.
const countSearch = 1 << 16

// Refuse returns a *CountError with the nearest counts below and above got that
// ok accepts.
func (req *Request) Refuse(count string, got int, rule string, ok func(int) bool) error {
	e := &CountError{Kind: req.Kind.Name, Count: count, Got: got, Rule: rule}
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

// AtLeast refuses a count below low.
func (req *Request) AtLeast(count string, got, low int, why string) error {
	if got >= low {
		return nil
	}
	return &CountError{Kind: req.Kind.Name, Count: count, Got: got, Rule: fmt.Sprintf("at least %d (%s)", low, why),
		Nearest: []int{low}}
}

// check refuses counts that no schedule takes and fills in the defaults.
func (req *Request) check() error {
	if err := req.AtLeast("ranks", req.Ranks, 1, "a pipeline has a rank"); err != nil {
		return err
	}
	if err := req.AtLeast("microbatches", req.Microbatches, 1, "a step has a micro-batch"); err != nil {
		return err
	}
	if req.VirtualStages == 0 {
		req.VirtualStages = req.Kind.Chunks
	}
	if err := req.checkChunks(); err != nil {
		return err
	}
	if req.Costs.isZero() {
		pair := req.Costs.Pair
		req.Costs = UnitCosts()
		req.Costs.Pair = pair
	}
	if req.WeightShare == 0 {
		req.WeightShare = 1
	}
	if err := req.checkCosts(); err != nil {
		return err
	}
	if err := req.checkSize(); err != nil || req.Kind.Check == nil {
		return err
	}
	return req.Kind.Check(req)
}

func (req *Request) checkChunks() error {
	v, k := req.VirtualStages, req.Kind
	refuse := func(rule string) error {
		return &CountError{Kind: k.Name, Count: "virtual stages", Got: v, Rule: rule, Nearest: []int{k.Chunks}}
	}
	if k.FixedChunks && v != k.Chunks {
		return refuse(fmt.Sprintf("this schedule has %d model chunks a rank", k.Chunks))
	}
	if v < 1 || v > maxChunks {
		return refuse(fmt.Sprintf("between 1 and %d model chunks a rank", maxChunks))
	}
	return nil
}

func (req *Request) checkCosts() error {
	name := req.Kind.Name
	if req.GroupSize < 0 || req.MemoryCap < 0 || req.Batches < 0 {
		return fmt.Errorf("schedule %s: group size, memory cap and batches are at least 0, where 0 is the "+
			"schedule's default", name)
	}
	if !(req.WeightShare >= 0 && req.WeightShare <= 1) {
		return fmt.Errorf("schedule %s: weight share %g; write a share of the activations between 0 and 1", name,
			req.WeightShare)
	}
	return nil
}

// checkSize refuses the first count that makes the program too large.
func (req *Request) checkSize() error {
	room := MaxActions / 3
	for _, c := range []struct {
		count string
		n     int
	}{
		{"virtual stages", req.VirtualStages}, {"batches", max(1, req.Batches)}, {"ranks", req.Ranks},
		{"microbatches", req.Microbatches},
	} {
		if c.n > room {
			rule := fmt.Sprintf("at most %d beside the other counts, as a schedule has up to %d actions", room,
				MaxActions)
			return &CountError{Kind: req.Kind.Name, Count: c.count, Got: c.n, Rule: rule, Nearest: []int{room}}
		}
		room /= c.n
	}
	return nil
}
