package main

import (
	"context"
	"fmt"
	"strconv"

	"trainsim/scenarios"
)

// largestValue is the largest value of a key with which a scenario fits, Value
// 0 if there is none.
type largestValue struct {
	Key   string  `json:"key"`
	Value int     `json:"value"`
	Used  float64 `json:"used"` // share of the fullest GPU's memory
}

// String says it in words.
func (l *largestValue) String() string {
	if l.Value == 0 {
		return fmt.Sprintf("No %s fits.", l.Key)
	}
	return fmt.Sprintf("Largest that fits: %s = %d (%.0f %% full).", l.Key, l.Value, 100*l.Used)
}

// search finds the largest value of a key with which the account fits, taking
// memory to grow with it.
type search struct {
	ctx      context.Context
	scenario string
	sets     []string
	key      string
}

// largestTried bounds the search: beyond it everything fits.
const largestTried = 1 << 24

// try returns the fullest GPU's share at a value; valid is false where the
// scenario cannot have it, which err then explains.
func (s *search) try(value int) (used float64, fits, valid bool, err error) {
	cfg, err := scenarios.LoadWith(s.scenario, append(append([]string{}, s.sets...), s.key+"="+strconv.Itoa(value)))
	if err != nil {
		return 0, false, false, err
	}
	m, err := stagesOf(cfg)
	if err != nil {
		return 0, false, false, err
	}
	fits = true
	for i := range m {
		fits = fits && m[i].Fits
		used = max(used, float64(m[i].NvidiaSMI)/float64(m[i].Capacity))
	}
	return used, fits, true, nil
}

// passedOver is how many values in a row may be invalid before the rest counts
// as invalid too.
const passedOver = 64

// largest doubles until the job no longer fits, then halves the gap. Values
// that the scenario cannot have (a length that the ranks do not divide) are
// passed over.
func (s *search) largest() (*largestValue, error) {
	out := &largestValue{Key: s.key}
	low, high := 0, 1
	var problem error
	for ; high <= largestTried; high *= 2 {
		used, fits, valid, err := s.try(high)
		if valid && !fits {
			break
		}
		if !valid {
			if problem == nil {
				problem = err
			}
			continue
		}
		low, out.Value, out.Used = high, high, used
	}
	if low == 0 && problem != nil && high > largestTried {
		return nil, problem // not a key that takes numbers
	}
	for high = min(high, largestTried); high-low > 1; {
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

// near tries a value, or one of the next below it, down to low, that is valid.
func (s *search) near(value, low int) (found int, used float64, fits, ok bool) {
	for low = max(low, value-passedOver); value > low; value-- {
		if used, fits, valid, _ := s.try(value); valid {
			return value, used, fits, true
		}
	}
	return 0, 0, false, false
}
