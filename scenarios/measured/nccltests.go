package measured

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"trainsim/sim/input"
)

// Lines of what nccl-tests prints (NVIDIA/nccl-tests, README): the operation, the
// ranks, the names of the columns.
var (
	ncclTest    = regexp.MustCompile(`(\w+)_perf`)
	ncclRank    = regexp.MustCompile(`^#\s+Rank\s+\d+\s.*\son\s+(\S+)\s+device\s+\d+\s+\[[^\]]*\]\s+(.+)$`)
	ncclColumns = regexp.MustCompile(`^#\s+size\s+count\s+type\b`)
	srunLabel   = regexp.MustCompile(`^\s*\d+:\s`)
)

// ncclOps are the tests' names of the operations that are modelled.
var ncclOps = []string{"all_reduce", "all_gather", "reduce_scatter", "alltoall", "broadcast", "reduce", "sendrecv"}

// isNCCLTests reports whether a text is what nccl-tests prints.
func isNCCLTests(text []byte) bool {
	for line := range bytes.Lines(text) {
		if ncclColumns.Match(unlabelled(line)) {
			return true
		}
	}
	return false
}

// unlabelled takes off the rank that srun --label writes before a line.
func unlabelled(line []byte) []byte { return bytes.TrimSpace(srunLabel.ReplaceAll(line, nil)) }

// ncclTable turns what nccl-tests prints into a table of collectives whose rows
// keep their lines. The operation is that of the program's name in the text or in
// the file's name; times are those out of place.
func ncclTable(text []byte, name string) ([]byte, error) {
	t := ncclText{op: ncclOp(filepath.Base(name))}
	var out bytes.Buffer
	for line := range bytes.Lines(text) {
		row := t.line(string(unlabelled(line)))
		if out.Len() == 0 {
			row = "gpu_type,gpus,nodes,collective,dtype,size_bytes,time_us"
		}
		out.WriteString(row + "\n")
	}
	switch {
	case t.rows > 0 && t.op == "":
		return nil, input.FileError(name,
			"does not say which operation was tested; name the file like the program, as in all_reduce_perf.txt")
	case t.rows > 0 && len(t.hosts) == 0:
		return nil, input.FileError(name,
			"has no lines \"# Rank ... device ...\" that name the GPUs; write all that nccl-tests prints")
	}
	return out.Bytes(), nil
}

// ncclText is what has been read of a test's output.
type ncclText struct {
	op, gpu string
	hosts   []string // one a rank
	columns []string
	rows    int
}

// line takes in a line and returns the row that it is, or "".
func (t *ncclText) line(s string) string {
	switch m := ncclRank.FindStringSubmatch(s); {
	case m != nil:
		t.hosts, t.gpu = append(t.hosts, m[1]), strings.ReplaceAll(m[2], ",", " ")
	case ncclColumns.MatchString(s):
		t.columns = strings.Fields(s)[1:]
	case ncclOp(s) != "" && !isRow(s):
		t.op = ncclOp(s)
	case isRow(s) && t.columns != nil:
		return t.row(strings.Fields(s))
	}
	return ""
}

// isRow reports whether a line begins with a size.
func isRow(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

func (t *ncclText) row(fields []string) string {
	time := slices.Index(t.columns, "time")
	if time < 0 || len(fields) <= time {
		return ""
	}
	t.rows++
	hosts := slices.Compact(slices.Sorted(slices.Values(t.hosts)))
	return fmt.Sprintf("%s,%d,%d,%s,%s,%s,%s", t.gpu, len(t.hosts), max(len(hosts), 1), t.op, fields[2], fields[0],
		fields[time])
}

// ncclOp returns the operation of a test's name within a text, or "".
func ncclOp(s string) string {
	if m := ncclTest.FindStringSubmatch(s); m != nil {
		for _, op := range ncclOps {
			if m[1] == op || strings.HasSuffix(m[1], "_"+op) && op != "reduce" {
				return op
			}
		}
	}
	return ""
}
