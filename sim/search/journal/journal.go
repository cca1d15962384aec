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
	key       sum     // of the rows' checksums
	retry     bool    // points that failed count as not there
	at        []place // by point of the whole search
	end       int64   // of what is written
	lines     chan line
	done      chan struct{}
	err       error // of the writer; to be read after done is closed
	damage    Damage
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

// Start says what becomes of results that a folder holds from before.
type Start uint8

// Starts of a journal.
const (
	GoOn  Start = iota // they are kept
	Retry              // they are kept, but for points that failed
	Fresh              // they are thrown away
)

// Open makes the folder, locks it and opens the journal in it, or begins one.
// What a crash has torn is cut off. A folder that another process holds is
// [output.ErrInUse], a journal with another header [ErrOther], a file that is none
// [*NoJournal], two results of one point a [*Conflict]; [Fresh] begins anew in any
// case.
func Open(dir string, head *Header, start Start) (*Journal, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, output.WriteError(dir, err)
	}
	unlock, err := output.Lock(dir)
	if err != nil {
		return nil, err
	}
	output.RemoveStale(dir)
	j := &Journal{dir: dir, path: filepath.Join(dir, Name), unlock: unlock, head: head, at: make([]place, head.Points),
		retry: start == Retry}
	j.lines, j.done = make(chan line, 64), make(chan struct{})
	if err := j.start(start); err != nil {
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

// Damage returns which lines from before held no row, or one that cannot be.
func (j *Journal) Damage() Damage { return j.damage }

// start goes on with the journal that is there, or writes an empty one.
func (j *Journal) start(s Start) (err error) {
	if _, j.key, err = j.head.line(); err != nil {
		return err
	}
	if s != Fresh {
		if err = j.resume(); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return j.Sort()
}

// Sort replaces the file by one with the rows in the order of the points, whatever
// the order in which they came.
func (j *Journal) Sort() error {
	head, _, err := j.head.line()
	if err != nil {
		return err
	}
	err = output.WriteFile(j.path, func(w io.Writer) error {
		if _, err := w.Write(head); err != nil {
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
	j.end = int64(len(head))
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
	if err := j.openFile(); err != nil {
		return err
	}
	c, err := Read(j.file, j.note)
	if c == nil {
		if info, e := j.file.Stat(); e == nil && info.Size() == 0 {
			return fs.ErrNotExist
		}
		return &NoJournal{j.path, err}
	}
	if d := j.difference(c); d != "" {
		return fmt.Errorf("%s %w (they differ in %s)", j.dir, ErrOther, d)
	}
	if err != nil {
		return err
	}
	j.end, j.damage = c.Sound, c.Damaged
	return j.file.Truncate(c.Sound)
}

// difference says in which respect the journal in the folder is another one.
func (j *Journal) difference(c *Contents) string {
	h := c.Header
	d := j.head.Difference(h)
	switch {
	case d != "":
		return d
	case h.Shard != j.head.Shard || h.Shards != j.head.Shards:
		return fmt.Sprintf("the shard: %v and %v", j.head.part(), h.part())
	case c.key != j.key:
		return "their first lines"
	}
	return ""
}

// note takes a row from before.
func (j *Journal) note(e Entry) error {
	if e.Row.Point >= len(j.at) {
		return nil // of another search, as the header says
	}
	p, next := &j.at[e.Row.Point], placeOf(&e)
	switch p.by(&next) {
	case replaced:
		*p = next
	case contradicted:
		return &Conflict{Path: j.path, Line: e.Line, Point: e.Row.Point, Other: j.path, OtherLine: int(p.line)}
	}
	return nil
}

// Has reports whether the result of a point is there.
func (j *Journal) Has(point int, id string) bool {
	p := &j.at[point]
	return p.length > 0 && !(p.failed && j.retry) && hex.EncodeToString(p.id[:]) == id
}

// Row returns the result of a point that is there.
func (j *Journal) Row(point int) (row report.SweepRow, err error) {
	line, err := j.text(point)
	if err != nil {
		return row, err
	}
	text, _, err := unseal(j.key[:], line)
	if err == nil {
		err = json.Unmarshal(text, &row)
	}
	if err != nil {
		return row, fmt.Errorf("%s: point %d: %w", j.path, point, err)
	}
	return row, nil
}

// Kept returns how many results are there that need not be found again.
func (j *Journal) Kept() (n int) {
	for i := range j.at {
		if j.at[i].length > 0 && !(j.at[i].failed && j.retry) {
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
