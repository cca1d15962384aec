package journal

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"trainsim/sim/input"
	"trainsim/sim/output"
	"trainsim/sim/report"
)

// Shards are the folders of a search's shards, open for reading.
type Shards struct{ folders []*folder }

// folder is that of one shard.
type folder struct {
	dir  string
	file *os.File
	head *Header
}

// OpenShards opens the journals of some shards and compares their headers. An
// [*input.Invalid] says that they are not of one search.
func OpenShards(dirs []string) (*Shards, error) {
	s := &Shards{}
	for _, dir := range dirs {
		if err := s.open(dir); err != nil {
			s.Close()
			return nil, &input.Invalid{Err: err}
		}
	}
	return s, nil
}

func (s *Shards) open(dir string) error {
	file, err := os.Open(filepath.Join(dir, Name))
	if err != nil {
		return fmt.Errorf("%s holds no results of a sweep: %w", dir, output.Cause(err))
	}
	f := &folder{dir: dir, file: file}
	s.folders = append(s.folders, f)
	if f.head, _, _, err = Read(file, func(Entry) error { return nil }); err != nil {
		return fmt.Errorf("%s: %w", file.Name(), err)
	}
	first := s.folders[0]
	if d := first.head.Difference(f.head); d != "" {
		return fmt.Errorf("%s and %s are shards of different sweeps; they differ in %s", first.dir, dir, d)
	}
	if f.head.Shards != first.head.Shards {
		return fmt.Errorf("%s is one of %d shards and %s one of %d; give those of one split", first.dir, first.head.Shards, dir, f.head.Shards)
	}
	return nil
}

// Close closes the journals.
func (s *Shards) Close() {
	for _, f := range s.folders {
		f.file.Close()
	}
}

// Header returns the header of the whole search.
func (s *Shards) Header() *Header {
	head := *s.folders[0].head
	head.Shard, head.Shards = 0, 1
	return &head
}

// Folder returns the folder of the shard that a point belongs to.
func (s *Shards) Folder(point int) string {
	for _, f := range s.folders {
		if f.head.Shard == point%f.head.Shards {
			return f.dir
		}
	}
	return ""
}

// Join copies the rows of all shards into the journal of the whole. A point that
// two shards have counts once. The warnings name shards that are there twice and
// damaged lines.
func (s *Shards) Join(j *Journal) (warnings []string, err error) {
	from := make(map[int]string)
	for _, f := range s.folders {
		if other, twice := from[f.head.Shard]; twice {
			warnings = append(warnings, fmt.Sprintf("%s and %s are both shard %d/%d", other, f.dir, f.head.Shard, f.head.Shards))
		}
		from[f.head.Shard] = f.dir
	}
	added := make(map[int]string) // identity by point, of what is on its way to the disk
	for _, f := range s.folders {
		bad, err := f.copy(j, added)
		if err != nil {
			return warnings, err
		}
		if bad > 0 {
			warnings = append(warnings, fmt.Sprintf("%s: %d lines are damaged", f.dir, bad))
		}
	}
	return warnings, nil
}

// copy adds the rows of a shard to the whole and returns how many lines are
// damaged. Points that failed are left out.
func (f *folder) copy(j *Journal, added map[int]string) (bad int, err error) {
	if _, err := f.file.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	_, _, bad, err = Read(f.file, func(e Entry) error {
		row := &e.Row
		if row.Outcome == report.OutcomeFailed {
			return nil
		}
		if id, ok := added[row.Point]; ok {
			if id != row.ID {
				return &input.Invalid{Err: fmt.Errorf("%s: point %d is of another scenario than in another shard", f.dir, row.Point)}
			}
			return nil
		}
		added[row.Point] = row.ID
		if j.Has(row.Point, row.ID) {
			return nil
		}
		return j.Add(row)
	})
	return bad, err
}

// Missing lists what the whole lacks: shards that are not there, those of a plan
// that finished says are not done, and points of a sweep's shards.
func (s *Shards) Missing(j *Journal, finished func(dir string) bool) (missing []string) {
	head := s.folders[0].head
	there := make(map[int]bool)
	for _, f := range s.folders {
		there[f.head.Shard] = true
		if head.Command == "plan" && !finished(f.dir) {
			missing = append(missing, fmt.Sprintf("shard %d/%d is not finished", f.head.Shard, head.Shards))
		}
	}
	for i := range head.Shards {
		if !there[i] {
			missing = append(missing, fmt.Sprintf("shard %d/%d", i, head.Shards))
		}
	}
	if head.Command == "plan" { // not every layout of a plan is simulated
		return missing
	}
	for point := range j.at {
		if shard := point % head.Shards; j.at[point].length == 0 && there[shard] {
			missing = append(missing, fmt.Sprintf("point %d of shard %d/%d", point, shard, head.Shards))
		}
	}
	return missing
}
