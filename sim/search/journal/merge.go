package journal

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"trainsim/sim/input"
	"trainsim/sim/output"
	"trainsim/sim/report"
	"trainsim/sim/search"
)

// Shards are the folders of a search's shards, open for reading.
type Shards struct{ folders []*folder }

// folder is that of one shard.
type folder struct {
	dir  string
	file *os.File
	head *Header
	key  sum // of the rows' checksums
}

// FindShards replaces folders that hold the folders of shards, named as
// [search.Shard.Folder] names them, by those: a whole search's folder stands for
// its shards. What a folder holds comes in the order of names.
func FindShards(dirs []string) []string {
	var out []string
	for _, dir := range dirs {
		// a bad pattern is a folder of that name
		inside, _ := filepath.Glob(filepath.Join(dir, search.ShardFolders, Name))
		if len(inside) == 0 {
			out = append(out, dir)
		}
		for _, path := range inside {
			out = append(out, filepath.Dir(path))
		}
	}
	return out
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
	line, err := readLine(bufio.NewReader(file))
	if err == nil {
		f.head, f.key, err = readHeader(line)
	}
	if err != nil {
		return fmt.Errorf("%s: %w; run that shard again with --fresh", file.Name(), err)
	}
	first := s.folders[0]
	if d := first.head.Difference(f.head); d != "" {
		return fmt.Errorf("%s and %s are shards of different sweeps; they differ in %s", first.dir, dir, d)
	}
	if f.head.Shards != first.head.Shards {
		return fmt.Errorf("%s is one of %d shards and %s one of %d; give those of one split", first.dir,
			first.head.Shards, dir, f.head.Shards)
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

// Join copies the rows of all shards into the journal of the whole. The same
// result of a point counts once, and any before one that failed; two results that
// differ are a [*Conflict]. The warnings name shards that are there twice and
// damaged lines.
func (s *Shards) Join(j *Journal) (warnings []string, err error) {
	from := make(map[int]string)
	for _, f := range s.folders {
		if other, twice := from[f.head.Shard]; twice {
			warnings = append(warnings, fmt.Sprintf("%s and %s are both shard %d/%d", other, f.dir, f.head.Shard,
				f.head.Shards))
		}
		from[f.head.Shard] = f.dir
	}
	t := &joining{journal: j, taken: make([]origin, len(j.at))}
	for point := range t.taken {
		t.taken[point] = origin{path: j.path, place: j.at[point]}
	}
	for _, f := range s.folders {
		damage, err := t.collect(f)
		if err != nil {
			return warnings, err
		}
		if damage.Lines > 0 {
			warnings = append(warnings, fmt.Sprintf("%s: %v", f.file.Name(), &damage))
		}
	}
	return warnings, t.copy()
}

// joining is a join on its way: which row of which journal a point takes.
type joining struct {
	journal *Journal
	taken   []origin // by point
}

// origin is where the row of a point stands.
type origin struct {
	path   string  // of the journal
	folder *folder // of the shard; nil is the whole's own journal
	place  place
}

// collect chooses among the rows of a shard and those before.
func (t *joining) collect(f *folder) (Damage, error) {
	if _, err := f.file.Seek(0, io.SeekStart); err != nil {
		return Damage{}, err
	}
	c, err := Read(f.file, func(e Entry) error {
		o, next := &t.taken[e.Row.Point], placeOf(&e)
		if o.folder != nil && o.folder != f && o.place.id != next.id {
			return &Conflict{Path: f.file.Name(), Line: e.Line, Point: e.Row.Point, Scenario: true, Other: o.path,
				OtherLine: int(o.place.line)}
		}
		switch o.place.by(&next) {
		case replaced:
			*o = origin{f.file.Name(), f, next}
		case contradicted:
			return &Conflict{Path: f.file.Name(), Line: e.Line, Point: e.Row.Point, Other: o.path,
				OtherLine: int(o.place.line)}
		}
		return nil
	})
	if err != nil {
		return Damage{}, err
	}
	return c.Damaged, nil
}

// copy adds the rows that were chosen and are not in the whole yet.
func (t *joining) copy() error {
	for point := range t.taken {
		o := &t.taken[point]
		if o.folder == nil || t.journal.at[point].result == o.place.result {
			continue
		}
		row, err := o.folder.row(&o.place)
		if err != nil {
			return err
		}
		if err := t.journal.Add(&row); err != nil {
			return err
		}
	}
	return nil
}

// row reads a row again, where it was found.
func (f *folder) row(p *place) (row report.SweepRow, err error) {
	line := make([]byte, p.length)
	if _, err := f.file.ReadAt(line, p.offset); err != nil {
		return row, fmt.Errorf("%s: %w", f.file.Name(), output.Cause(err))
	}
	text, _, err := unseal(f.key[:], line)
	if err == nil {
		err = json.Unmarshal(text, &row)
	}
	if err != nil {
		return row, fmt.Errorf("%s:%d: %w", f.file.Name(), p.line, err)
	}
	return row, nil
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
