package search

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"trainsim/sim/report"
)

// Rows is a [Store] in memory. The zero value is empty and ready.
type Rows struct {
	mu   sync.Mutex
	rows map[int]report.SweepRow
}

// Has reports whether the result of a point is there.
func (r *Rows) Has(point int, id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	row, ok := r.rows[point]
	return ok && row.ID == id
}

// Row returns the result of a point.
func (r *Rows) Row(point int) (report.SweepRow, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	row, ok := r.rows[point]
	if !ok {
		return row, fmt.Errorf("search: point %d is missing", point)
	}
	return row, nil
}

// Add takes a result.
func (r *Rows) Add(row *report.SweepRow) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rows == nil {
		r.rows = map[int]report.SweepRow{}
	}
	r.rows[row.Point] = *row
	return nil
}

// All returns the results in the order of the points.
func (r *Rows) All() iter.Seq2[report.SweepRow, error] {
	return func(yield func(report.SweepRow, error) bool) {
		for _, point := range slices.Sorted(maps.Keys(r.rows)) {
			if !yield(r.rows[point], nil) {
				return
			}
		}
	}
}
