package trace

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"

	"trainsim/sim"
)

// column is one field of a row in a saved run: which values it takes, how to read
// it from a row of type T and how to store it.
type column[T any] struct {
	name     string
	min, max int64
	get      func(*T) int64
	set      func(*T, int64)
}

// spanColumns holds duration after start, because the end is their sum.
var spanColumns = []column[Span]{
	{"start", 0, math.MaxInt64,
		func(s *Span) int64 { return int64(s.Start) }, func(s *Span, v int64) { s.Start = sim.Time(v) }},
	{"duration", 0, math.MaxInt64,
		func(s *Span) int64 { return int64(s.End - s.Start) },
		func(s *Span, v int64) { s.End = s.Start + sim.Time(v) }},
	{"lane", 0, math.MaxInt32,
		func(s *Span) int64 { return int64(s.Lane) }, func(s *Span, v int64) { s.Lane = int32(v) }},
	{"kind", 0, math.MaxUint16,
		func(s *Span) int64 { return int64(s.Kind) }, func(s *Span, v int64) { s.Kind = Kind(v) }},
	{"chunk", 0, math.MaxUint16,
		func(s *Span) int64 { return int64(s.Chunk) }, func(s *Span, v int64) { s.Chunk = uint16(v) }},
	{"name", 0, math.MaxUint32,
		func(s *Span) int64 { return int64(s.Name) }, func(s *Span, v int64) { s.Name = uint32(v) }},
	{"microbatch", -1, math.MaxInt32,
		func(s *Span) int64 { return int64(s.Microbatch) }, func(s *Span, v int64) { s.Microbatch = int32(v) }},
}

var sampleColumns = []column[Sample]{
	{"at", 0, math.MaxInt64,
		func(s *Sample) int64 { return int64(s.At) }, func(s *Sample, v int64) { s.At = sim.Time(v) }},
	{"counter", 0, math.MaxInt32,
		func(s *Sample) int64 { return int64(s.Counter) }, func(s *Sample, v int64) { s.Counter = int32(v) }},
	{"value", math.MinInt64, math.MaxInt64,
		func(s *Sample) int64 { return s.Value }, func(s *Sample, v int64) { s.Value = v }},
}

// rows turns one block of columns into rows. Every column has to be there and
// all have to be of one length.
func rows[T any](block map[string]ints, columns []column[T]) ([]T, error) {
	n := len(block[columns[0].name])
	out := make([]T, n)
	for _, col := range columns {
		values, ok := block[col.name]
		if !ok || len(values) != n {
			return nil, fmt.Errorf("column %q has %d entries where %q has %d", col.name, len(values),
				columns[0].name, n)
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
