package trace

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"trainsim/sim"
)

// WriteChrome writes r in the trace-event format that Perfetto and
// chrome://tracing open: a process a rank, a thread a stream, a counter track
// for each kind of memory of a rank, and one process that holds the links.
// Times are microseconds with six decimals, so no picosecond is lost. The same
// recording gives the same bytes. A span on a lane or a sample of a counter
// that r does not have is an error, and so is a failed write.
func WriteChrome(w io.Writer, r *Recording) error {
	c := chrome{w: bufio.NewWriterSize(w, 1<<16), r: r}
	c.buf = append(c.buf, `{"displayTimeUnit":"ms","traceEvents":[`...)
	c.quoteNames()
	c.lanes()
	if err := c.spans(); err != nil {
		return err
	}
	if err := c.samples(); err != nil {
		return err
	}
	c.buf = append(c.buf, "\n]}\n"...)
	c.flush()
	if err := c.w.Flush(); err != nil {
		return fmt.Errorf("trace: writing the trace: %w", err)
	}
	return nil
}

// chrome builds one event at a time in buf. The buffered writer keeps the
// first error until the last Flush.
type chrome struct {
	w        *bufio.Writer
	r        *Recording
	buf      []byte
	names    [][]byte // Recording.Names in JSON
	kinds    [NumKinds][]byte
	counters [][]byte // head of a counter's events
	events   int
}

func (c *chrome) quoteNames() {
	c.names = make([][]byte, len(c.r.Names))
	for i, n := range c.r.Names {
		c.names[i] = quote(n)
	}
	for k := range c.kinds {
		c.kinds[k] = quote(Kind(k).String())
	}
}

// next ends the event before it and starts one.
func (c *chrome) next(head string) {
	if c.events > 0 {
		c.buf = append(c.buf, ',')
	}
	c.events++
	c.flush()
	c.buf = append(c.buf, '\n')
	c.buf = append(c.buf, head...)
}

func (c *chrome) flush() {
	c.w.Write(c.buf) //nolint:errcheck // bufio keeps the error for Flush
	c.buf = c.buf[:0]
}

func (c *chrome) int(key string, v int64) {
	c.buf = append(c.buf, key...)
	c.buf = strconv.AppendInt(c.buf, v, 10)
}

func (c *chrome) time(key string, t sim.Time) {
	c.buf = append(c.buf, key...)
	c.buf = appendMicroseconds(c.buf, t)
}

// appendMicroseconds writes t in microseconds with six decimals, in integers.
func appendMicroseconds(b []byte, t sim.Time) []byte {
	abs := uint64(t)
	if t < 0 {
		b = append(b, '-')
		abs = -abs
	}
	const us = uint64(sim.Microsecond)
	b = strconv.AppendUint(b, abs/us, 10)
	point := len(b) // the leading 1 of the fraction becomes the point
	b = strconv.AppendUint(b, us+abs%us, 10)
	b[point] = '.'
	return b
}

// lanes names the processes and threads and says in which order to show them.
func (c *chrome) lanes() {
	seen := make(map[int]bool)
	for _, l := range c.r.Lanes {
		if !seen[l.Rank] {
			seen[l.Rank] = true
			c.process(l.Rank, fmt.Sprintf("rank %d (stage %d)", l.Rank, l.Stage))
		}
		c.next(`{"ph":"M","name":"thread_name"`)
		c.thread(l)
		c.buf = append(c.buf, `,"args":{"name":`...)
		c.buf = append(c.buf, quote(l.Stream.String())...)
		c.buf = append(c.buf, `}}`...)
		c.next(`{"ph":"M","name":"thread_sort_index"`)
		c.thread(l)
		c.int(`,"args":{"sort_index":`, int64(l.Stream))
		c.buf = append(c.buf, `}}`...)
	}
	for _, k := range c.r.Counters {
		if k.Kind != LinkRate && !seen[k.Rank] {
			seen[k.Rank] = true
			c.process(k.Rank, fmt.Sprintf("rank %d (stage %d)", k.Rank, k.Stage))
		}
	}
}

func (c *chrome) process(pid int, name string) {
	c.next(`{"ph":"M","name":"process_name"`)
	c.int(`,"pid":`, int64(pid))
	c.buf = append(c.buf, `,"args":{"name":`...)
	c.buf = append(c.buf, quote(name)...)
	c.buf = append(c.buf, `}}`...)
	c.next(`{"ph":"M","name":"process_sort_index"`)
	c.int(`,"pid":`, int64(pid))
	c.int(`,"args":{"sort_index":`, int64(pid))
	c.buf = append(c.buf, `}}`...)
}

func (c *chrome) thread(l Lane) {
	c.int(`,"pid":`, int64(l.Rank))
	c.int(`,"tid":`, int64(l.Stream))
}

func (c *chrome) spans() error {
	for s := range c.r.Spans {
		if int(s.Lane) >= len(c.r.Lanes) || s.Lane < 0 {
			return fmt.Errorf("trace: a span lies on lane %d of %d", s.Lane, len(c.r.Lanes))
		}
		c.next(`{"ph":"X"`)
		c.thread(c.r.Lanes[s.Lane])
		c.time(`,"ts":`, s.Start)
		c.time(`,"dur":`, s.End-s.Start)
		c.buf = append(c.buf, `,"name":`...)
		c.buf = append(c.buf, c.spanName(s)...)
		if s.Kind < NumKinds {
			c.buf = append(c.buf, `,"cat":`...)
			c.buf = append(c.buf, c.kinds[s.Kind]...)
		}
		if s.Microbatch >= 0 {
			c.int(`,"args":{"microbatch":`, int64(s.Microbatch))
			c.int(`,"chunk":`, int64(s.Chunk))
			c.buf = append(c.buf, '}')
		}
		c.buf = append(c.buf, '}')
	}
	return nil
}

// spanName falls back on the kind for a span without a name.
func (c *chrome) spanName(s *Span) []byte {
	if int64(s.Name) < int64(len(c.names)) && len(c.r.Names[s.Name]) > 0 {
		return c.names[s.Name]
	}
	if s.Kind < NumKinds {
		return c.kinds[s.Kind]
	}
	return []byte(`"unknown"`)
}

func (c *chrome) samples() error {
	c.counterHeads()
	for _, s := range c.r.samples {
		if int(s.Counter) >= len(c.counters) || s.Counter < 0 {
			return fmt.Errorf("trace: a sample belongs to counter %d of %d", s.Counter, len(c.counters))
		}
		c.next("")
		c.buf = append(c.buf, c.counters[s.Counter]...)
		c.time(`,"ts":`, s.At)
		unit := `,"args":{"bytes":`
		if c.r.Counters[s.Counter].Kind == LinkRate {
			unit = `,"args":{"bytes/s":`
		}
		c.int(unit, s.Value)
		c.buf = append(c.buf, `}}`...)
	}
	return nil
}

// counterHeads prepares what all events of a counter share, and the process of
// the links, whose number follows the last rank's.
func (c *chrome) counterHeads() {
	links := 0
	for _, l := range c.r.Lanes {
		links = max(links, l.Rank+1)
	}
	hasLinks := false
	for _, k := range c.r.Counters {
		links = max(links, k.Rank+1)
		hasLinks = hasLinks || k.Kind == LinkRate
	}
	if hasLinks {
		c.process(links, "links")
	}
	c.counters = make([][]byte, len(c.r.Counters))
	for i, k := range c.r.Counters {
		pid, name := k.Rank, "memory "+k.Name
		switch k.Kind {
		case MemoryReserved:
			name = "memory reserved"
		case LinkRate:
			pid, name = links, k.Name
		}
		c.counters[i] = fmt.Appendf(nil, `{"ph":"C","pid":%d,"name":%s`, pid, quote(name))
	}
}

// quote writes s as a JSON string; bytes that are not UTF-8 become U+FFFD.
func quote(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil { // cannot happen for a string
		return []byte(`""`)
	}
	return b
}
