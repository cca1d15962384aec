package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"trainsim/sim/report"
)

// journalName is the file that holds the results of a sweep as they come.
const journalName = "sweep.jsonl"

// journal is the results of a sweep on the disk. Rows are appended and flushed
// by a goroutine of its own, as many together as have come meanwhile, so that
// the simulations do not wait for the disk.
type journal struct {
	*app
	path  string
	file  *os.File
	head  *report.JournalHeader
	at    []place // by point of the whole sweep
	end   int64   // of what is written
	lines chan line
	done  chan struct{}
	err   error // of the writer; to be read after done is closed
	bad   int   // lines that held no row
}

// place is where a point's row stands; length 0 is nowhere.
type place struct {
	offset int64
	length int32
	failed bool // the row says that the simulation failed: it runs again
	id     [16]byte
}

func placeOf(row *report.SweepRow, offset int64, length int) place {
	p := place{offset: offset, length: int32(length), failed: row.Outcome == report.OutcomeFailed}
	hex.Decode(p.id[:], []byte(row.ID)[:min(len(row.ID), 2*len(p.id))]) //nolint:errcheck // what is no identity matches none
	return p
}

// line is a row on its way to the disk.
type line struct {
	text  []byte
	point int
	place place
}

// errOtherSweep is a folder that holds the results of something else.
var errOtherSweep = errors.New("holds the results of another sweep")

// openJournal opens the journal in dir, or begins one. What a crash has torn is
// cut off. A journal with another header is errOtherSweep.
func (a *app) openJournal(dir string, head *report.JournalHeader, fresh bool) (*journal, error) {
	j := &journal{app: a, path: filepath.Join(dir, journalName), head: head, at: make([]place, head.Points)}
	j.lines, j.done = make(chan line, 64), make(chan struct{})
	err := j.resume()
	if fresh || errors.Is(err, fs.ErrNotExist) {
		err = j.begin()
	}
	if err != nil {
		return nil, err
	}
	go j.write()
	return j, nil
}

// begin starts an empty journal.
func (j *journal) begin() error {
	clear(j.at)
	j.bad = 0
	return j.rewrite(0, 0)
}

// rewrite replaces the file by one with the header and the rows that are there
// of the points from first on in strides: in order, whatever the order in which
// they came. A stride of 0 leaves all rows out.
func (j *journal) rewrite(first, stride int) error {
	text, err := j.head.Line()
	if err != nil {
		return err
	}
	err = j.writeFile(j.path, func(w io.Writer) error {
		if _, err := w.Write(text); err != nil || stride == 0 {
			return err
		}
		for point := first; point < len(j.at); point += stride {
			if j.at[point].length == 0 {
				continue
			}
			text, err := j.text(point)
			if err != nil {
				return err
			}
			if _, err := w.Write(text); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	j.end = int64(len(text))
	for point := first; stride > 0 && point < len(j.at); point += stride {
		j.at[point].offset = j.end
		j.end += int64(j.at[point].length)
	}
	j.close()
	return j.open()
}

func (j *journal) open() (err error) {
	j.file, err = os.OpenFile(j.path, os.O_RDWR|os.O_APPEND, 0)
	return err
}

func (j *journal) close() {
	if j.file != nil {
		j.file.Close()
	}
}

// resume reads what is there. A journal whose very header was torn counts as
// none.
func (j *journal) resume() error {
	head := j.head
	if err := j.open(); err != nil {
		return err
	}
	h, sound, bad, err := report.ReadJournal(j.file, func(e report.JournalEntry) error {
		if e.Row.Point < len(j.at) {
			j.at[e.Row.Point] = placeOf(&e.Row, e.Offset, e.Length)
		}
		return nil
	})
	if h == nil {
		if info, e := j.file.Stat(); e == nil && info.Size() == 0 {
			return fs.ErrNotExist
		}
		return fmt.Errorf("%s: %w; write elsewhere with --out, or start over with --fresh", j.path, err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", j.path, err)
	}
	if d := head.Difference(h); d != "" || h.Shard != head.Shard || h.Shards != head.Shards {
		if d == "" {
			d = fmt.Sprintf("the shard: %d/%d and %d/%d", head.Shard, head.Shards, h.Shard, h.Shards)
		}
		return fmt.Errorf("%s %w (they differ in %s); write elsewhere with --out, or start over with --fresh", filepath.Dir(j.path), errOtherSweep, d)
	}
	j.end, j.bad = sound, bad
	return j.file.Truncate(sound)
}

// has reports whether the result of a point is there.
func (j *journal) has(point int, id string) bool {
	p := &j.at[point]
	return p.length > 0 && !p.failed && hex.EncodeToString(p.id[:]) == id
}

// known returns the result of a point that is there from before.
func (j *journal) known(point int, id string) (row report.SweepRow, ok bool) {
	if !j.has(point, id) {
		return row, false
	}
	text, err := j.text(point)
	return row, err == nil && json.Unmarshal(text, &row) == nil
}

// kept returns how many results are there from before.
func (j *journal) kept() (n int) {
	for i := range j.at {
		if j.at[i].length > 0 && !j.at[i].failed {
			n++
		}
	}
	return n
}

// add appends a row. It returns before the row is on the disk.
func (j *journal) add(row *report.SweepRow) error {
	text, err := row.Line()
	if err != nil {
		return err
	}
	select {
	case j.lines <- line{text, row.Point, placeOf(row, 0, len(text))}:
		return nil
	case <-j.done:
		return writeError(j.path, j.err)
	}
}

// write is the goroutine that appends.
func (j *journal) write() {
	defer close(j.done)
	for first := range j.lines {
		batch := []line{first}
		for more := true; more; {
			select {
			case l, ok := <-j.lines:
				if more = ok; ok {
					batch = append(batch, l)
				}
			default:
				more = false
			}
		}
		if j.err = j.appendAll(batch); j.err != nil {
			return
		}
	}
}

// appendAll writes rows and flushes them to the disk.
func (j *journal) appendAll(batch []line) error {
	var text []byte
	for _, l := range batch {
		l.place.offset = j.end + int64(len(text))
		j.at[l.point] = l.place
		text = append(text, l.text...)
	}
	if _, err := j.file.Write(text); err != nil {
		return err
	}
	j.end += int64(len(text))
	return j.file.Sync()
}

// finish waits until everything is on the disk. No rows may be added later.
func (j *journal) finish() error {
	close(j.lines)
	<-j.done
	return writeError(j.path, j.err)
}

// text returns the line of a point.
func (j *journal) text(point int) ([]byte, error) {
	p := &j.at[point]
	if p.length == 0 {
		return nil, fmt.Errorf("%s: point %d is missing", j.path, point)
	}
	text := make([]byte, p.length)
	if _, err := j.file.ReadAt(text, p.offset); err != nil {
		return nil, fmt.Errorf("%s: %w", j.path, cause(err))
	}
	return text, nil
}

// rows returns the rows of the points from first on in strides.
func (j *journal) rows(first, stride int) iter.Seq2[report.SweepRow, error] {
	return func(yield func(report.SweepRow, error) bool) {
		for point := first; point < len(j.at); point += stride {
			var row report.SweepRow
			text, err := j.text(point)
			if err == nil {
				err = json.Unmarshal(text, &row)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}
