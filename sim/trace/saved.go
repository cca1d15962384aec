package trace

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// Limits of a saved run. What a reader holds in memory is bounded by them, not
// by the size of the file: a Span takes 32 bytes, a Sample 24.
const (
	// MaxSpans is the largest number of spans that a saved run may hold.
	MaxSpans = 1 << 24
	// MaxSamples is the largest number of counter samples.
	MaxSamples = 1 << 24
	// maxLanes bounds lanes, names and counters, each.
	maxLanes = 1 << 20
	// maxNameBytes bounds all names together.
	maxNameBytes = 64 << 20
	// maxValue is the longest JSON value that is held at once, in bytes: the
	// report, or a block of columns.
	maxValue = 16 << 20
	// blockRows is how many spans or samples one block of columns holds.
	blockRows = chunkSpans
	// maxBlockRows is the longest block that a reader takes.
	maxBlockRows = 1 << 16
)

// WriteSaved writes a saved run:
//
//	{"schema":"...","report":{...},"recording":{...}}
//
// The report is any JSON value; this package does not look into it. The
// recording is column-wise in blocks of some thousand rows, times in integer
// picoseconds, sizes in bytes. The same input gives the same bytes.
func WriteSaved(w io.Writer, schema string, report any, r *Recording) error {
	body, err := json.Marshal(report)
	if err != nil {
		return fmt.Errorf("trace: saving the report: %w", err)
	}
	bw := bufio.NewWriterSize(w, 1<<16)
	head := "{\"schema\":%s,\n\"report\":%s,\n\"recording\":"
	fmt.Fprintf(bw, head, quote(schema), body) //nolint:errcheck // bufio keeps the error for Flush
	if err := r.encodeJSON(bw); err != nil {
		return err
	}
	bw.WriteString("}\n") //nolint:errcheck // as above
	if err := bw.Flush(); err != nil {
		return fmt.Errorf("trace: writing the saved run: %w", err)
	}
	return nil
}

// encodeJSON writes the recording alone, as WriteSaved embeds it. A recording
// that ReadSaved would refuse (a span on a lane that does not exist, more than
// MaxSpans spans) is an error.
func (r *Recording) encodeJSON(w io.Writer) error {
	if err := r.check(); err != nil {
		return err
	}
	bw := bufio.NewWriterSize(w, 1<<16)
	fields := []struct {
		key   string
		value any
	}{{"kinds", kindNames[:]}, {"lanes", notNil(r.Lanes)}, {"names", notNil(r.Names)},
		{"counters", notNil(r.Counters)}}
	sep := "{"
	for _, f := range fields {
		b, err := json.Marshal(f.value)
		if err != nil {
			return fmt.Errorf("trace: saving the recording's %s: %w", f.key, err)
		}
		fmt.Fprintf(bw, "%s\"%s\":%s", sep, f.key, b) //nolint:errcheck // bufio keeps the error for Flush
		sep = ",\n"
	}
	if r.Blocks != nil {
		b, err := json.Marshal(r.Blocks)
		if err != nil {
			return fmt.Errorf("trace: saving the allocator's blocks: %w", err)
		}
		fmt.Fprintf(bw, ",\n\"blocks\":%s", b) //nolint:errcheck // bufio keeps the error for Flush
	}
	r.encodeSpans(bw)
	r.encodeSamples(bw)
	bw.WriteString("]}") //nolint:errcheck // as above
	if err := bw.Flush(); err != nil {
		return fmt.Errorf("trace: writing the recording: %w", err)
	}
	return nil
}

func notNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func (r *Recording) encodeSpans(bw *bufio.Writer) {
	var b []byte
	sep := ",\n\"spans\":["
	for _, c := range r.chunks {
		b = append(b[:0], sep...)
		for i, col := range spanColumns {
			b = appendColumn(b, i, col.name, len(c), func(row int) int64 { return col.get(&c[row]) })
		}
		b = append(b, '}')
		bw.Write(b) //nolint:errcheck // bufio keeps the error for Flush
		sep = ",\n"
	}
	if len(r.chunks) == 0 {
		bw.WriteString(sep) //nolint:errcheck // as above
	}
	bw.WriteString("]") //nolint:errcheck // as above
}

func (r *Recording) encodeSamples(bw *bufio.Writer) {
	var b []byte
	bw.WriteString(",\n\"samples\":[") //nolint:errcheck // as above
	for first := 0; first < len(r.samples); first += blockRows {
		block := r.samples[first:min(first+blockRows, len(r.samples))]
		b = b[:0]
		if first > 0 {
			b = append(b, ",\n"...)
		}
		for i, col := range sampleColumns {
			b = appendColumn(b, i, col.name, len(block), func(row int) int64 { return col.get(&block[row]) })
		}
		b = append(b, '}')
		bw.Write(b) //nolint:errcheck // as above
	}
}

func appendColumn(b []byte, i int, name string, rows int, get func(row int) int64) []byte {
	b = append(b, "{,"[min(i, 1)])
	b = strconv.AppendQuote(b, name)
	b = append(b, ":["...)
	for row := range rows {
		if row > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, get(row), 10)
	}
	return append(b, ']')
}

// check says whether the recording is one that can be read back.
func (r *Recording) check() error {
	switch {
	case r.Len() > MaxSpans:
		return fmt.Errorf("trace: %d spans are more than a saved run holds (%d)", r.Len(), MaxSpans)
	case len(r.samples) > MaxSamples:
		return fmt.Errorf("trace: %d samples are more than a saved run holds (%d)", len(r.samples), MaxSamples)
	case len(r.Lanes) > maxLanes, len(r.Names) > maxLanes, len(r.Counters) > maxLanes:
		return errLanes
	}
	if err := r.checkHeads(); err != nil {
		return err
	}
	for s := range r.Spans {
		if err := r.checkSpan(s); err != nil {
			return err
		}
	}
	for i := range r.samples {
		if err := r.checkSample(&r.samples[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *Recording) checkHeads() error {
	for i, l := range r.Lanes {
		if l.Rank < 0 || l.Rank > math.MaxInt32 || l.Stage < 0 || l.Stage > math.MaxInt32 || l.Stream >= NumStreams {
			return fmt.Errorf("trace: lane %d: rank %d, stage %d, stream %d is out of range", i, l.Rank, l.Stage,
				l.Stream)
		}
	}
	bytes := 0
	for _, n := range r.Names {
		bytes += len(n)
	}
	if bytes > maxNameBytes {
		return fmt.Errorf("trace: the names take more than %d MiB", maxNameBytes>>20)
	}
	return r.checkCounters()
}

func (r *Recording) checkCounters() error {
	for i, c := range r.Counters {
		if c.Rank < -1 || c.Rank > math.MaxInt32 || c.Stage < -1 || c.Stage > math.MaxInt32 {
			return fmt.Errorf("trace: counter %d: rank %d, stage %d is out of range", i, c.Rank, c.Stage)
		}
		if !(c.Limit >= 0 && c.Limit <= math.MaxInt64) {
			return fmt.Errorf("trace: counter %d: limit %g is out of range; 0 means none", i, c.Limit)
		}
	}
	return nil
}

var (
	errLanes = fmt.Errorf("trace: more than %d lanes, names or counters", maxLanes)
	errLane  = errors.New("the lane does not exist")
	errName  = errors.New("the name does not exist")
	errKind  = errors.New("the kind does not exist")
	errTime  = errors.New("it starts before 0 or ends before it starts")
)

func (r *Recording) checkSpan(s *Span) error {
	var err error
	switch {
	case s.Lane < 0 || int(s.Lane) >= len(r.Lanes):
		err = errLane
	case int64(s.Name) >= int64(len(r.Names)) && s.Name != 0:
		err = errName
	case s.Kind >= NumKinds:
		err = errKind
	case s.Start < 0 || s.End < s.Start:
		err = errTime
	default:
		return nil
	}
	return fmt.Errorf("trace: span %+v: %w", *s, err)
}

func (r *Recording) checkSample(s *Sample) error {
	if s.Counter < 0 || int(s.Counter) >= len(r.Counters) {
		return fmt.Errorf("trace: sample %+v: the counter does not exist", *s)
	}
	if s.At < 0 {
		return fmt.Errorf("trace: sample %+v: its time is negative", *s)
	}
	return nil
}
