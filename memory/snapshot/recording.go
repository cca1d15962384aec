package snapshot

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"trainsim/memory"
)

// unlimited is the capacity of a device of which nothing says how large it is.
const unlimited = int64(1) << 44

// Recording is what one device's allocator was asked to do: a trace that
// PyTorch recorded, or a list of operations. It can be replayed any number of
// times.
type Recording struct {
	Name   string
	Device int
	Conf   memory.Conf // in force when it was recorded

	// capacity is what the driver could give, in bytes: of a trace that holds
	// an out-of-memory entry, what was reserved and free at that moment.
	// 0 when nothing says so.
	capacity int64
	total    int64 // the device's memory in bytes, 0 when unknown
	fraction float64
	trace    []memory.TraceEntry
	origin   origin
	ops      []op
}

// Len is how many entries or operations the recording has.
func (r *Recording) Len() int { return len(r.trace) + len(r.ops) }

// ReadRecordings reads what torch.cuda.memory._dump_snapshot writes, the same as
// JSON, or operations in the form of the test vectors
// ({"ops": [["a", 0, 1024, 0], ["f", 0]], ...}), and returns what can be
// replayed: one recording for each device with a trace, or each record. A
// snapshot without a trace gives its live blocks to be allocated again.
//
// A pickle is only ever taken apart: nothing in it is imported, built or called,
// and what it can make the reader keep is bounded.
func ReadRecordings(r io.ReadSeeker) ([]*Recording, error) {
	s, scripts, err := readFile(r)
	if err != nil {
		return nil, err
	}
	if scripts == nil {
		return recordingsOf(s), nil
	}
	var list []*Recording
	for i := range scripts {
		rec, err := scripts[i].recording(i)
		if err != nil {
			return nil, err
		}
		list = append(list, rec)
	}
	return list, nil
}

// readFile tells the formats apart by the first byte that is not blank.
func readFile(r io.ReadSeeker) (*memory.Snapshot, []script, error) {
	start, err := r.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, nil, err
	}
	head, err := bufio.NewReaderSize(r, 512).Peek(512)
	if len(head) == 0 {
		if errors.Is(err, io.EOF) {
			err = errors.New("the file is empty; write a snapshot with torch.cuda.memory._dump_snapshot")
		}
		return nil, nil, err
	}
	if bytes.HasPrefix(head, []byte("\ufeff")) { // a byte order mark
		start, head = start+3, head[3:]
	}
	if _, err := r.Seek(start, io.SeekStart); err != nil {
		return nil, nil, err
	}
	if len(head) == 0 {
		return nil, nil, errNoSnapshot
	}
	switch c := firstByte(head); {
	case c == '{' || c == '[':
		f, err := readJSON(bufio.NewReaderSize(r, 1<<16))
		if err != nil {
			return nil, nil, err
		}
		return &f.snapshot, f.scripts, nil
	case head[0] == 0x1f:
		return nil, nil, errors.New("the file is compressed; decompress it first (gunzip)")
	case head[0] == 'P' && len(head) > 1 && head[1] == 'K':
		return nil, nil, errors.New("this is a zip archive, as torch.save writes; " +
			"write the snapshot with torch.cuda.memory._dump_snapshot")
	case strings.IndexByte("\x80]}(c", head[0]) < 0: // no pickle of a container begins otherwise
		return nil, nil, errors.New("this is neither a pickle nor JSON; write a snapshot with " +
			"torch.cuda.memory._dump_snapshot")
	}
	s, err := readPickle(r)
	return s, nil, err
}

// firstByte skips blanks.
func firstByte(head []byte) byte {
	for _, c := range head {
		switch c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// recordingsOf prepares the traces of a snapshot for replay, one for each device
// that has a trace or segments.
func recordingsOf(s *memory.Snapshot) []*Recording {
	devices := len(s.Traces)
	if n := len(s.Segments); n > 0 {
		devices = max(devices, s.Segments[n-1].Device+1)
	}
	var list []*Recording
	for d := range devices {
		r := &Recording{Name: fmt.Sprintf("device %d", d), Device: d, Conf: s.Conf, fraction: 1}
		if d < len(s.Traces) {
			r.trace = s.Traces[d]
		}
		segments := segmentsOf(s, d)
		if len(r.trace) == 0 && len(segments) == 0 {
			continue
		}
		r.origin = rewind(segments, r.trace)
		r.capacity = capacityOf(r.origin.segments, r.trace)
		list = append(list, r)
	}
	return list
}

// segmentsOf returns the segments of a device.
func segmentsOf(s *memory.Snapshot, device int) []memory.Segment {
	var list []memory.Segment
	for i := range s.Segments {
		if s.Segments[i].Device == device {
			list = append(list, s.Segments[i])
		}
	}
	return list
}

// capacityOf returns the least of what was reserved and free whenever the
// trace ran out of memory; 0 when it never did.
func capacityOf(segments []memory.Segment, trace []memory.TraceEntry) int64 {
	var reserved, capacity int64
	for i := range segments {
		reserved += segments[i].Size
	}
	for i := range trace {
		e := &trace[i]
		reserved += e.Reserves()
		if e.Action == memory.ActionOOM && e.Addr >= 0 && e.Addr <= unlimited {
			if c := reserved + e.Addr; c > 0 && (capacity == 0 || c < capacity) {
				capacity = c
			}
		}
	}
	return capacity
}
