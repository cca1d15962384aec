package gpu

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// ErrTable is the class of errors for a file that is not a table of kernels.
var ErrTable = errors.New("not a table of kernel measurements")

// What the benchmarks behind the published tables launch in a row, which
// decides whether the power limit bites (see PowerCost). A column "repeats"
// says it for a table of one's own.
const (
	gemmRepeats      = 9   // aiconfigurator collector: 3 warm-ups and 6 timed graph replays
	attentionRepeats = 16  // aiconfigurator collector: 10 warm-ups and 6 timed graph replays
	simumaxRepeats   = 100 // SimuMax efficiency tests: 100 steps, the last 75 or 90 timed
)

// maxSize bounds every count in a table, so that products stay finite.
const maxSize = 1 << 40

// ReadMeasurements reads a table of measured kernels, a CSV file whose header
// names its columns in any order:
//
//	GEMMs       gpu_type,dtype,m,n,k and time_us or tflops; also batch,layout,out_dtype,accumulate,repeats
//	attention   gpu_type,dtype,batch,seq,heads,kv_heads,head_dim,time_us; also repeats
//	efficiency  gpu_type,op,peak_tflops,shape_key,efficiency (SimuMax's tables)
//
// The name is used in the measurements' IDs. A row that lacks a figure is
// returned with Skipped set; a broken file is an error.
func ReadMeasurements(r io.Reader, name string) ([]Measurement, error) {
	c := csv.NewReader(r)
	c.FieldsPerRecord = -1
	header, err := c.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", name, ErrTable, err)
	}
	t := newTable(header)
	read, ok := t.reader()
	if !ok {
		return nil, fmt.Errorf("%s: %w: its header has neither m,n,k with time_us or tflops, nor batch,seq,heads,head_dim,time_us, nor op,peak_tflops,shape_key,efficiency", name, ErrTable)
	}
	var out []Measurement
	for {
		record, err := c.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := c.FieldPos(0)
		out = append(out, t.row(read, record, fmt.Sprintf("%s:%d", name, line)))
	}
}

// IsMeasurements reports whether a CSV header is that of a table which
// ReadMeasurements reads.
func IsMeasurements(header []string) bool {
	_, ok := newTable(header).reader()
	return ok
}

// table knows which column has which name.
type table struct {
	columns map[string]int
	record  []string
	err     error // the first bad field of the record
}

func newTable(header []string) *table {
	t := &table{columns: make(map[string]int, len(header))}
	for i, h := range header {
		h = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(h, "\ufeff")))
		if _, twice := t.columns[h]; !twice {
			t.columns[h] = i
		}
	}
	return t
}

func (t *table) has(names ...string) bool {
	for _, n := range names {
		if _, ok := t.columns[n]; !ok {
			return false
		}
	}
	return true
}

// reader chooses how rows are read by the columns that there are.
func (t *table) reader() (func(*table, *Measurement), bool) {
	switch {
	case t.has("gpu_type", "shape_key", "efficiency", "peak_tflops", "op"):
		return (*table).efficiency, true
	case t.has("gpu_type", "batch", "seq", "heads", "head_dim", "time_us"):
		return (*table).attention, true
	case t.has("gpu_type", "m", "n", "k", "time_us"), t.has("gpu_type", "m", "n", "k", "tflops"):
		return (*table).gemm, true
	}
	return nil, false
}

// row reads one record; what is wrong with it becomes the reason to skip it.
func (t *table) row(read func(*table, *Measurement), record []string, id string) Measurement {
	t.record, t.err = record, nil
	m := Measurement{ID: id, Device: t.text("gpu_type")}
	read(t, &m)
	if t.err == nil && !(m.Seconds > 0 && m.Seconds < 1e6) {
		t.err = errors.New("its time is not a positive number of seconds")
	}
	if t.err != nil {
		m.Skipped = t.err.Error()
	}
	return m
}

func (t *table) text(column string) string {
	i, ok := t.columns[column]
	if !ok || i >= len(t.record) {
		return ""
	}
	return strings.TrimSpace(t.record[i])
}

func (t *table) fail(format string, args ...any) {
	if t.err == nil {
		t.err = fmt.Errorf(format, args...)
	}
}

// count reads a positive whole number.
func (t *table) count(column string) int64 {
	return t.parseCount(column, t.text(column))
}

func (t *table) parseCount(name, text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > maxSize {
		t.fail("%s is %q; write a whole number of 1 or more", name, text)
		return 1
	}
	return n
}

// optional reads a positive whole number that may be left out.
func (t *table) optional(column string, otherwise int64) int64 {
	if t.text(column) == "" {
		return otherwise
	}
	return t.count(column)
}

// number reads a positive number.
func (t *table) number(column string) float64 {
	x, err := strconv.ParseFloat(t.text(column), 64)
	if err != nil || !(x > 0) || math.IsInf(x, 0) {
		t.fail("%s is %q; write a positive number", column, t.text(column))
		return 1
	}
	return x
}

func (t *table) dtype(column string, otherwise Dtype) Dtype {
	d := otherwise
	if s := t.text(column); s != "" {
		if err := d.UnmarshalText([]byte(strings.ToLower(s))); err != nil {
			t.fail("%s: %w", column, err)
		}
	}
	return d
}

func (t *table) flag(column string) bool {
	switch s := strings.ToLower(t.text(column)); s {
	case "1", "true":
		return true
	case "", "0", "false":
	default:
		t.fail("%s is %q; write true or false", column, s)
	}
	return false
}
