package report

import "slices"

// bestRows is how many of the best rows a summary keeps.
const bestRows = 20

// SweepSummary gathers what the text and the figure of a sweep need while its
// rows go by.
type SweepSummary struct {
	Points  int
	Counts  map[string]int // by outcome
	All     []SweepRow     // the first rows, as many as a figure draws
	Best    []SweepRow     // that run, least time a sample first
	Failing []SweepRow     // the first of each outcome that is not a run
}

// maxKept is how many rows a summary keeps for the figure.
const maxKept = 10000

// Summarize reads all rows once.
func (d *SweepDoc) Summarize() (*SweepSummary, error) {
	s := &SweepSummary{Counts: map[string]int{}}
	for row, err := range d.Rows {
		if err != nil {
			return nil, err
		}
		s.add(row)
	}
	return s, nil
}

func (s *SweepSummary) add(row SweepRow) {
	s.Points++
	if s.Counts[row.Outcome]++; s.Counts[row.Outcome] == 1 && row.Outcome != OutcomeOK {
		s.Failing = append(s.Failing, row)
	}
	if len(s.All) < maxKept {
		s.All = append(s.All, row)
	}
	if !row.Runs() {
		return
	}
	i, _ := slices.BinarySearchFunc(s.Best, row, func(a, b SweepRow) int {
		if a.SampleTime <= b.SampleTime {
			return -1
		}
		return 1
	})
	if i < bestRows {
		s.Best = slices.Insert(s.Best, i, row)
		s.Best = s.Best[:min(len(s.Best), bestRows)]
	}
}

// ComparesSamples reports whether the time of a sample is what a figure over
// the axis should compare: where global batches differ, and over the counts
// that cut the batch.
func (s *SweepSummary) ComparesSamples(axis string) bool {
	if key := ShortKey(axis); key == "microbatches" || key == "chunks" || key == "microbatch_size" {
		return true
	}
	var samples int64
	for i := range s.All {
		if m := s.All[i].Metrics; m != nil {
			if samples != 0 && m.Samples != samples {
				return true
			}
			samples = m.Samples
		}
	}
	return false
}
