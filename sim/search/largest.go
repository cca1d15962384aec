package search

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"trainsim/scenarios"
	"trainsim/sim/account"
	"trainsim/sim/input"
	"trainsim/sim/job"
	"trainsim/sim/report"
)

// Largest is the largest value of a key with which a scenario fits, Value
// 0 if there is none. Level says that memory has stopped growing with the key:
// Value is then the largest that was tried, and larger ones fit as well.
type Largest struct {
	Key   string  `json:"key"`
	Value int     `json:"value"`
	Used  float64 `json:"used"` // share of the fullest GPU's memory
	Level bool    `json:"level,omitempty"`
}

// String says it in words.
func (l *Largest) String() string {
	if l.Value == 0 {
		return fmt.Sprintf("No %s fits.", l.Key)
	}
	if l.Level {
		return fmt.Sprintf("Memory does not limit %s: %d fits (%.0f %% full), and more need no more.", l.Key, l.Value,
			100*l.Used)
	}
	return fmt.Sprintf("Largest that fits: %s = %d (%.0f %% full).", l.Key, l.Value, 100*l.Used)
}

// FindLargest finds the largest value of a key with which the memory account of a
// scenario under some overrides fits, taking memory to grow with it.
func FindLargest(ctx context.Context, t *scenarios.Template, sets []string, key string) (*Largest, error) {
	s := valueSearch{ctx: ctx, template: t, sets: sets, key: key}
	return s.find()
}

// valueSearch is the search.
type valueSearch struct {
	ctx      context.Context
	template *scenarios.Template
	sets     []string
	key      string
}

// largestTried bounds the search: beyond it everything fits.
const largestTried = 1 << 24

// try returns the fullest GPU's share at a value; valid is false where the
// scenario cannot have it, which err then explains. The value is the last
// override.
func (s *valueSearch) try(value int) (used float64, fits, valid bool, err error) {
	if err := s.ctx.Err(); err != nil {
		return 0, false, false, err
	}
	cfg, err := s.template.Load(append(slices.Clone(s.sets), s.key+"="+strconv.Itoa(value)))
	if err != nil {
		return 0, false, false, err
	}
	stages, err := memoryOf(s.ctx, cfg)
	if err != nil {
		return 0, false, false, err
	}
	fits = true
	for i := range stages {
		fits = fits && stages[i].Fits
		used = max(used, float64(stages[i].NvidiaSMI)/float64(stages[i].Capacity))
	}
	return used, fits, true, nil
}

// memoryOf is the account of every stage of a job.
func memoryOf(ctx context.Context, cfg *job.Config) ([]report.StageMemory, error) {
	j, err := job.Build(ctx, cfg, account.Peaks)
	if err != nil {
		return nil, &input.Invalid{Err: fmt.Errorf("%s: %w", cfg.Name, err)}
	}
	ranks, err := account.Replay(ctx, j, false)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cfg.Name, err)
	}
	return report.MemoryOf(ranks), nil
}

// passedOver is how many values in a row may be invalid before the rest counts
// as invalid too.
const passedOver = 64

// levelAfter is how many doublings of the micro-batches may need the same memory
// until more are taken to need no more: a schedule other than GPipe keeps so
// many in flight and no more, while a replay takes as long as there are many.
const levelAfter = 6

// find doubles until the job no longer fits, then halves the gap. Values
// that the scenario cannot have (a length that the ranks do not divide) are
// passed over.
func (s *valueSearch) find() (*Largest, error) {
	out := &Largest{Key: s.key}
	if strings.HasPrefix(s.key, "parallel.") { // more ranks need less memory each
		return out, s.degrees(out)
	}
	high, err := s.double(out)
	if err != nil || out.Level {
		return out, err
	}
	for low := out.Value; high-low > 1; {
		if err := s.ctx.Err(); err != nil {
			return nil, err
		}
		value, used, fits, ok := s.near((low+high)/2, low)
		switch {
		case !ok:
			high = (low + high) / 2
		case fits:
			low, out.Value, out.Used = max(low, (low+high)/2), value, used
		default:
			high = value
		}
	}
	return out, nil
}

// degrees tries every number of ranks that divides the job's GPUs, from the
// largest down, and leaves the first that fits in out.
func (s *valueSearch) degrees(out *Largest) error {
	cfg, err := s.template.Load(s.sets)
	if err != nil {
		return err
	}
	var problem error
	possible := false
	for n := cfg.Parallel.World(); n >= 1; n-- {
		if cfg.Parallel.World()%n != 0 {
			continue
		}
		used, fits, valid, err := s.try(n)
		switch {
		case s.ctx.Err() != nil:
			return s.ctx.Err()
		case !valid && problem == nil:
			problem = err
		case fits:
			out.Value, out.Used = n, used
			return nil
		}
		possible = possible || valid
	}
	if !possible {
		return problem
	}
	return nil
}

// double leaves the largest power of two that fits in out and returns one that
// does not, or the largest value to try.
func (s *valueSearch) double(out *Largest) (high int, err error) {
	var problem error
	same := 0
	for high = 1; high <= largestTried; high *= 2 {
		used, fits, valid, err := s.try(high)
		switch {
		case s.ctx.Err() != nil:
			return 0, s.ctx.Err()
		case !valid:
			if problem == nil {
				problem = err
			}
			continue
		case !fits:
			return high, nil
		case used == out.Used && s.countsMicrobatches():
			same++
		default:
			same = 0
		}
		out.Value, out.Used, out.Level = high, used, same == levelAfter
		if out.Level {
			return high, nil
		}
	}
	if out.Value == 0 && problem != nil {
		return 0, problem // not a key that takes numbers
	}
	return largestTried, nil
}

// countsMicrobatches says whether the key is the number of micro-batches.
func (s *valueSearch) countsMicrobatches() bool {
	return s.key == "schedule.microbatches" || s.key == "schedule.chunks"
}

// near tries a value, or one of the next below it, down to low, that is valid.
func (s *valueSearch) near(value, low int) (found int, used float64, fits, ok bool) {
	for low = max(low, value-passedOver); value > low; value-- {
		if used, fits, valid, _ := s.try(value); valid {
			return value, used, fits, true
		}
	}
	return 0, 0, false, false
}
