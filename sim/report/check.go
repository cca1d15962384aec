package report

import (
	"fmt"
	"math"
	"slices"

	"trainsim/sim"
	"trainsim/sim/trace"
)

// Check holds a run to what has to hold of every run, whatever the scenario. A
// failure is a fault of the simulator, never of the scenario.
func (r *Run) Check() error {
	for _, check := range []func(*Run) error{checkSpans, checkCounters, checkStages, checkBubble} {
		if err := check(r); err != nil {
			return fmt.Errorf("invariant broken: %w", err)
		}
	}
	return nil
}

// checkSpans holds that no span ends before it starts and that a rank does one
// thing at a time, in its schedule and on its compute stream.
func checkSpans(run *Run) error {
	rec := run.Recording
	lanes := make([][]trace.Span, len(rec.Lanes))
	for s := range rec.Spans {
		if s.Start < 0 || s.End < s.Start {
			return fmt.Errorf("span %q from %v to %v", rec.Names[s.Name], s.Start, s.End)
		}
		if stream := rec.Lanes[s.Lane].Stream; (stream == trace.Actions || stream == trace.Compute) &&
			s.End > s.Start {
			lanes[s.Lane] = append(lanes[s.Lane], *s)
		}
	}
	for i, spans := range lanes {
		slices.SortFunc(spans, func(a, b trace.Span) int { return int(max(-1, min(1, a.Start-b.Start))) })
		end := sim.Time(0)
		for _, s := range spans {
			if s.Start < end {
				return fmt.Errorf("rank %d, stream %v: %q starts at %v, before %v", rec.Lanes[i].Rank,
					rec.Lanes[i].Stream, rec.Names[s.Name], s.Start, end)
			}
			end = s.End
		}
	}
	return nil
}

// checkCounters holds that memory is never negative, that reserved memory and
// link loads stay within what there is, and that no counter goes back in time.
func checkCounters(run *Run) error {
	rec := run.Recording
	last := make([]sim.Time, len(rec.Counters))
	for _, s := range rec.Samples() {
		c := &rec.Counters[s.Counter]
		bounded := c.Limit > 0 && (c.Kind == trace.LinkRate || c.Kind == trace.MemoryReserved && run.Report.OOM == nil)
		switch {
		case s.At < last[s.Counter]:
			return fmt.Errorf("counter %s of rank %d goes back from %v to %v", c.Name, c.Rank, last[s.Counter], s.At)
		case s.Value < 0:
			return fmt.Errorf("counter %s of rank %d is %d at %v", c.Name, c.Rank, s.Value, s.At)
		case bounded && float64(s.Value) > c.Limit*(1+1e-9)+1:
			return fmt.Errorf("counter %s of rank %d is %d at %v, above its limit %.0f", c.Name, c.Rank, s.Value, s.At,
				c.Limit)
		}
		last[s.Counter] = s.At
	}
	return nil
}

// checkStages holds that a stage's seconds add up to its step.
func checkStages(run *Run) error {
	for _, s := range run.Report.TimePerStage {
		sum, comm := 0.0, 0.0
		for _, p := range StageParts {
			sum += *p.Of(&s)
		}
		if !near(sum, s.Step) {
			return fmt.Errorf("the seconds of stage %d add up to %.12g, its step is %.12g", s.Stage, sum, s.Step)
		}
		for _, exposed := range s.Comm {
			comm += exposed
		}
		if !near(comm, s.ExposedComm) {
			return fmt.Errorf("the communication of stage %d adds up to %.12g, not %.12g", s.Stage, comm,
				s.ExposedComm)
		}
	}
	return nil
}

// checkBubble holds that the causes of the bubble add up to it.
func checkBubble(run *Run) error {
	b := &run.Report.Bubble
	sum := b.Causes.Warmup + b.Causes.Cooldown + b.Causes.Imbalance + b.Causes.Communication + b.Causes.Straggler
	if !near(sum, b.Seconds) {
		return fmt.Errorf("the causes of the bubble add up to %.12g of %.12g seconds", sum, b.Seconds)
	}
	return nil
}

// near allows for the rounding of a sum of a dozen terms to seconds.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b))+1e-12 }
