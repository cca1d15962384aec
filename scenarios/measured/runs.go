package measured

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"trainsim/scenarios"
	"trainsim/sim/model"
	"trainsim/sim/step"
)

// Run is one measured training run: a row of a table of runs.
type Run struct {
	// ID names the row; Family is the part before its last dash.
	ID, Family string
	// Line is the row's line in the file.
	Line int
	// Quality is the table's word for how well the row is known, "A" or "B".
	Quality string
	// Config is the job of the row; nil where Skipped says why there is none.
	Config *step.Config
	// Seconds is the measured time of a step, 0 where none was published.
	Seconds float64
	// MemoryBytes is the measured peak of the fullest GPU, 0 where none was
	// published, and MemoryMetric says which figure it is.
	MemoryBytes  int64
	MemoryMetric MemoryMetric
	// OOM says that the run ran out of memory.
	OOM bool
	// Skipped says why the row cannot be run, with its place in the file;
	// empty where it can.
	Skipped string
}

// MemoryMetric names a figure of used memory.
type MemoryMetric string

// Figures of used memory.
const (
	Allocated MemoryMetric = "allocated"  // torch.cuda.max_memory_allocated
	Reserved  MemoryMetric = "reserved"   // torch.cuda.max_memory_reserved
	NvidiaSMI MemoryMetric = "nvidia_smi" // with the CUDA context and NCCL's buffers
)

var memoryMetrics = []string{string(Allocated), string(Reserved), string(NvidiaSMI)}

// IsRuns reports whether a CSV header is that of a table of measured runs.
func IsRuns(header []string) bool {
	h := newHeader(header)
	for i := range runColumns {
		if _, ok := h.index[runColumns[i].name]; runColumns[i].required && !ok {
			return false
		}
	}
	return true
}

// ReadRuns reads a table of measured training runs, a CSV file with the columns
// of [RunColumns]. The name stands for the file in messages, and cluster
// presets are looked for beside it, then among the built-in ones. A header or
// quoting that is wrong is an [*scenarios.Errors]; a row that is wrong, or whose job
// cannot be run, is returned with Skipped set.
func ReadRuns(r io.Reader, name string) ([]Run, error) {
	c := csv.NewReader(r)
	c.FieldsPerRecord = -1
	header, err := c.Read()
	if err != nil {
		return nil, csvError(name, err)
	}
	h := newHeader(header)
	if err := h.check(name, c, runColumns, "runs"); err != nil {
		return nil, err
	}
	machines := machines{dir: filepath.Dir(name)}
	var out []Run
	err = eachRow(c, name, h, func(row *runRow) { out = append(out, row.read(&machines)) })
	if err != nil {
		return nil, err
	}
	return out, nil
}

// eachRow calls f for every record below a table's header.
func eachRow(c *csv.Reader, name string, h *header, f func(*runRow)) error {
	for {
		record, err := c.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return csvError(name, err)
		}
		f(&runRow{file: name, header: h, record: record, place: c.FieldPos})
	}
}

// csvError turns a broken file into a problem with its position.
func csvError(name string, err error) *scenarios.Errors {
	var broken *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return fileError(name, "is empty; write a header line and a row for each run")
	case errors.As(err, &broken):
		return &scenarios.Errors{Problems: []scenarios.Problem{{File: name, Line: broken.Line, Column: broken.Column, Text: fmt.Sprintf("is not CSV: %v", broken.Err)}}}
	}
	return fileError(name, "cannot be read: %v", reason(err))
}

// fileError is a problem with a file as a whole.
func fileError(file, format string, args ...any) *scenarios.Errors {
	return &scenarios.Errors{Problems: []scenarios.Problem{{File: file, Text: fmt.Sprintf(format, args...)}}}
}

// reason is the cause of an I/O error without the path, which the message has already.
func reason(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// familyOf returns the part of an id before its last dash.
func familyOf(id string) string {
	if i := strings.LastIndexByte(id, '-'); i > 0 {
		return id[:i]
	}
	return id
}

// machines caches the presets of a table: many rows run on one cluster.
type machines struct {
	dir    string
	known  map[string]machine
	models map[string]modelPreset
}

type machine struct {
	config *step.Config // with nothing but the preset and the defaults
	err    error
}

type modelPreset struct {
	config *model.Config
	err    error
}

// find returns a Config of the cluster with all defaults and no job yet.
func (m *machines) find(cluster string) (*step.Config, error) {
	found, ok := m.known[cluster]
	if !ok {
		found.config, found.err = scenarios.LoadMachine(cluster, m.dir)
		if m.known == nil {
			m.known = map[string]machine{}
		}
		m.known[cluster] = found
	}
	return found.config, found.err
}

// model returns a model preset by its name, in which separators and case do
// not count.
func (m *machines) model(name string) (*model.Config, error) {
	found, ok := m.models[name]
	if !ok {
		found.config, found.err = scenarios.LoadModel(name, m.dir)
		if m.models == nil {
			m.models = map[string]modelPreset{}
		}
		m.models[name] = found
	}
	return found.config, found.err
}
