package journal

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

	"trainsim/sim/output"
	"trainsim/sim/report"
)

// Name is the journal's file in a folder of results.
const Name = "sweep.jsonl"

// Journal is the results of a search in a folder that it holds locked. It is a
// [search.Store]: rows are appended and flushed by a goroutine of its own, as many
// together as have come meanwhile, so that simulations do not wait for the disk.
type Journal struct {
	dir, path string
	unlock    func()
	file      *os.File
	head      *Header
	at        []place // by point of the whole search
	end       int64   // of what is written
	lines     chan line
	done      chan struct{}
	err       error // of the writer; to be read after done is closed
	bad       int   // lines that held no row
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

// ErrOther says that a folder holds the results of another search.
var ErrOther = errors.New("holds the results of another sweep")

// NoJournal is the error of a file that does not begin as a journal.
type NoJournal struct {
	Path string
	Err  error // what is wrong
}

// Error returns the path and what is wrong.
func (e *NoJournal) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns what is wrong.
func (e *NoJournal) Unwrap() error { return e.Err }

// Open makes the folder, locks it and opens the journal in it, or begins one.
// What a crash has torn is cut off. A folder that another process holds is
// [output.ErrInUse], a journal with another header [ErrOther], a file that is none
// [*NoJournal]; fresh begins anew in any case.
func Open(dir string, head *Header, fresh bool) (*Journal, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, output.WriteError(dir, err)
	}
	unlock, err := output.Lock(dir)
	if err != nil {
		return nil, err
	}
	output.RemoveTorn(dir)
	j := &Journal{dir: dir, path: filepath.Join(dir, Name), unlock: unlock, head: head, at: make([]place, head.Points)}
	j.lines, j.done = make(chan line, 64), make(chan struct{})
	err = j.resume()
	if fresh || errors.Is(err, fs.ErrNotExist) {
		err = j.begin()
	}
	if err != nil {
		j.Close()
		return nil, err
	}
	go j.write()
	return j, nil
}

// Close closes the file and unlocks the folder.
func (j *Journal) Close() {
	j.closeFile()
	j.unlock()
}

// Path returns the path of the journal's file.
func (j *Journal) Path() string { return j.path }

// Damaged returns how many lines of an earlier search held no row.
func (j *Journal) Damaged() int { return j.bad }

// begin starts an empty journal.
func (j *Journal) begin() error {
	clear(j.at)
	j.bad = 0
	return j.Sort()
}

// Sort replaces the file by one with the rows in the order of the points, whatever
// the order in which they came.
func (j *Journal) Sort() error {
	text, err := j.head.Line()
	if err != nil {
		return err
	}
	err = output.WriteFile(j.path, func(w io.Writer) error {
		if _, err := w.Write(text); err != nil {
			return err
		}
		for point := range j.at {
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
	for point := range j.at {
		j.at[point].offset = j.end
		j.end += int64(j.at[point].length)
	}
	j.closeFile()
	return j.openFile()
}

func (j *Journal) openFile() (err error) {
	j.file, err = os.OpenFile(j.path, os.O_RDWR|os.O_APPEND, 0)
	return err
}

func (j *Journal) closeFile() {
	if j.file != nil {
		j.file.Close()
	}
}

// resume reads what is there. A journal whose very header was torn counts as
// none.
func (j *Journal) resume() error {
	head := j.head
	if err := j.openFile(); err != nil {
		return err
	}
	h, sound, bad, err := Read(j.file, func(e Entry) error {
		if e.Row.Point < len(j.at) {
			j.at[e.Row.Point] = placeOf(&e.Row, e.Offset, e.Length)
		}
		return nil
	})
	if h == nil {
		if info, e := j.file.Stat(); e == nil && info.Size() == 0 {
			return fs.ErrNotExist
		}
		return &NoJournal{j.path, err}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", j.path, err)
	}
	if d := head.Difference(h); d != "" || h.Shard != head.Shard || h.Shards != head.Shards {
		if d == "" {
			d = fmt.Sprintf("the shard: %d/%d and %d/%d", head.Shard, head.Shards, h.Shard, h.Shards)
		}
		return fmt.Errorf("%s %w (they differ in %s)", j.dir, ErrOther, d)
	}
	j.end, j.bad = sound, bad
	return j.file.Truncate(sound)
}

// Has reports whether the result of a point is there.
func (j *Journal) Has(point int, id string) bool {
	p := &j.at[point]
	return p.length > 0 && !p.failed && hex.EncodeToString(p.id[:]) == id
}

// Row returns the result of a point that is there.
func (j *Journal) Row(point int) (row report.SweepRow, err error) {
	text, err := j.text(point)
	if err == nil {
		err = json.Unmarshal(text, &row)
	}
	return row, err
}

// Kept returns how many results are there that need not be found again.
func (j *Journal) Kept() (n int) {
	for i := range j.at {
		if j.at[i].length > 0 && !j.at[i].failed {
			n++
		}
	}
	return n
}

// text returns the line of a point.
func (j *Journal) text(point int) ([]byte, error) {
	p := &j.at[point]
	if p.length == 0 {
		return nil, fmt.Errorf("%s: point %d is missing", j.path, point)
	}
	text := make([]byte, p.length)
	if _, err := j.file.ReadAt(text, p.offset); err != nil {
		return nil, fmt.Errorf("%s: %w", j.path, output.Cause(err))
	}
	return text, nil
}

// Rows returns the rows of all points of the shard. One that is missing is an error.
func (j *Journal) Rows() iter.Seq2[report.SweepRow, error] {
	part := j.head.part()
	return func(yield func(report.SweepRow, error) bool) {
		for i := range part.Count(len(j.at)) {
			if row, err := j.Row(part.Point(i)); !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// Found returns the rows that are there.
func (j *Journal) Found() iter.Seq2[report.SweepRow, error] {
	return func(yield func(report.SweepRow, error) bool) {
		for point := range j.at {
			if j.at[point].length == 0 {
				continue
			}
			if row, err := j.Row(point); !yield(row, err) || err != nil {
				return
			}
		}
	}
}
