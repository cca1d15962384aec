package trace

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"

	"trainsim/sim"
)

// column is one field of a row in a saved run: how to read it from a row of
// type T and how to store it, after which values are refused.
type column[T any] struct {
	name     string
	get      func(*T) int64
	set      func(*T, int64)
	min, max int64
}

// spanColumns holds duration after start, because the end is their sum.
var spanColumns = []column[Span]{
	{"start", func(s *Span) int64 { return int64(s.Start) }, func(s *Span, v int64) { s.Start = sim.Time(v) }, 0, math.MaxInt64},
	{"duration", func(s *Span) int64 { return int64(s.End - s.Start) }, func(s *Span, v int64) { s.End = s.Start + sim.Time(v) }, 0, math.MaxInt64},
	{"lane", func(s *Span) int64 { return int64(s.Lane) }, func(s *Span, v int64) { s.Lane = int32(v) }, 0, math.MaxInt32},
	{"kind", func(s *Span) int64 { return int64(s.Kind) }, func(s *Span, v int64) { s.Kind = Kind(v) }, 0, math.MaxUint16},
	{"chunk", func(s *Span) int64 { return int64(s.Chunk) }, func(s *Span, v int64) { s.Chunk = uint16(v) }, 0, math.MaxUint16},
	{"name", func(s *Span) int64 { return int64(s.Name) }, func(s *Span, v int64) { s.Name = uint32(v) }, 0, math.MaxUint32},
	{"microbatch", func(s *Span) int64 { return int64(s.Microbatch) }, func(s *Span, v int64) { s.Microbatch = int32(v) }, -1, math.MaxInt32},
}

var sampleColumns = []column[Sample]{
	{"at", func(s *Sample) int64 { return int64(s.At) }, func(s *Sample, v int64) { s.At = sim.Time(v) }, 0, math.MaxInt64},
	{"counter", func(s *Sample) int64 { return int64(s.Counter) }, func(s *Sample, v int64) { s.Counter = int32(v) }, 0, math.MaxInt32},
	{"value", func(s *Sample) int64 { return s.Value }, func(s *Sample, v int64) { s.Value = v }, math.MinInt64, math.MaxInt64},
}

// rows turns one block of columns into rows. Every column has to be there and
// all have to be of one length.
func rows[T any](block map[string]ints, columns []column[T]) ([]T, error) {
	n := len(block[columns[0].name])
	out := make([]T, n)
	for _, col := range columns {
		values, ok := block[col.name]
		if !ok || len(values) != n {
			return nil, fmt.Errorf("column %q has %d entries where %q has %d", col.name, len(values), columns[0].name, n)
		}
		for i, v := range values {
			if v < col.min || v > col.max {
				return nil, fmt.Errorf("column %q holds %d; it has to be from %d to %d", col.name, v, col.min, col.max)
			}
			col.set(&out[i], v)
		}
	}
	if len(block) > len(columns) {
		return nil, fmt.Errorf("a block has %d columns; it has to have %d", len(block), len(columns))
	}
	return out, nil
}

var (
	errInteger = errors.New("a column has to be an array of 64-bit integers")
	errRows    = fmt.Errorf("a block has more than %d rows; write several blocks", maxBlockRows)
)

// ints is a column of a block. encoding/json hands over text that is valid
// JSON already, so what is left to refuse is what is not an integer.
type ints []int64

// UnmarshalJSON parses an array of integers.
func (c *ints) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	if len(b) < 2 || b[0] != '[' || b[len(b)-1] != ']' {
		return errInteger
	}
	*c = (*c)[:0]
	b = bytes.TrimSpace(b[1 : len(b)-1])
	for len(b) > 0 {
		v, rest, err := leadingInt(b)
		if err != nil {
			return err
		}
		if len(*c) == maxBlockRows {
			return errRows
		}
		*c = append(*c, v)
		b = rest
	}
	return nil
}

// leadingInt parses the first element of a list and drops the comma behind it.
func leadingInt(b []byte) (int64, []byte, error) {
	end := bytes.IndexByte(b, ',')
	rest := []byte(nil)
	if end < 0 {
		end = len(b)
	} else {
		rest = b[end+1:]
	}
	v, err := strconv.ParseInt(string(bytes.TrimSpace(b[:end])), 10, 64)
	if err != nil {
		return 0, nil, errInteger
	}
	return v, rest, nil
}
