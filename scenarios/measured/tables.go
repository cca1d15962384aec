package measured

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"trainsim/sim/input"
)

// Options are presets that stand for the machines of a table, whatever it calls
// them. Empty ones leave each row the machine that it names.
type Options struct {
	GPU     string // of a table of kernels: a device preset
	Cluster string // of a table of collectives or of rank memory: a cluster preset
}

// Read reads a table, which it knows by its header: training runs, rank memory,
// kernels or collectives, or what nccl-tests prints. The name stands for the file
// in messages, and presets are looked for beside it, then among the built-in
// ones. The error of a file that is no such table says what to write.
func Read(text []byte, name string, o Options) ([]Row, error) {
	if isNCCLTests(text) {
		return collectiveRows(text, name, o)
	}
	header, err := csv.NewReader(bytes.NewReader(text)).Read()
	if len(header) == 1 {
		if what := input.Separator(header[0]); what != "" {
			return nil, fmt.Errorf("%s: its columns are separated by %s; write commas between them", name, what)
		}
	}
	if slices.ContainsFunc(header, isNoName) {
		return nil, fmt.Errorf("%s: is not a table: its first line is binary data or far too long; write a CSV file "+
			"with a header line", name)
	}
	for _, f := range formats {
		if err == nil && f.is(header) {
			return f.rows(text, name, o)
		}
	}
	return runRows(text, name)
}

// formats are the tables that a header tells from one of training runs, which
// is what a file is taken for else.
var formats = []struct {
	is   func(header []string) bool
	rows func(text []byte, name string, o Options) ([]Row, error)
}{
	{isCollectives, collectiveRows},
	{isKernels, kernelRows},
	{isRankMemory, rankMemoryRows},
}

// longestName is how many bytes the name of a column may have.
const longestName = 256

// isNoName says whether what stands in a header cannot be the name of a column.
func isNoName(s string) bool {
	return len(s) > longestName || !utf8.ValidString(s) ||
		strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) })
}
