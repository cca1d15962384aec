package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// JournalSchema names the version of a sweep's journal.
const JournalSchema = "trainsim.sweep-journal/v1"

// JournalHeader is the first line of a journal. It says which sweep the rows
// under it are of; two journals with different headers are of different sweeps.
type JournalHeader struct {
	Schema   string        `json:"schema"`
	Version  string        `json:"trainsim_version"`
	Command  string        `json:"command"` // sweep | plan
	Scenario string        `json:"scenario"`
	Content  string        `json:"content"` // identity of the scenario that everything starts from
	Axes     []JournalAxis `json:"axes"`
	Options  string        `json:"options"` // what else decides the points, in words
	Points   int           `json:"points"`  // of all shards together
	Shard    int           `json:"shard"`
	Shards   int           `json:"shards"`
	Top      int           `json:"top,omitempty"`          // of a plan: how many of the fastest are shown
	Batch    int64         `json:"global_batch,omitempty"` // of a plan
	Sizes    int           `json:"sizes,omitempty"`        // of a plan: how many numbers of GPUs are searched
}

// JournalAxis is what varies along one axis.
type JournalAxis struct {
	Key    string   `json:"key"`
	Values []string `json:"values"`
}

// Difference says in which respect two headers are of different sweeps, "" if
// they are of the same one. The shard does not count.
func (h *JournalHeader) Difference(other *JournalHeader) string {
	for _, d := range []struct {
		what      string
		same      bool
		ours, its any
	}{
		{"the command", h.Command == other.Command, h.Command, other.Command},
		{"the scenario", h.Scenario == other.Scenario, h.Scenario, other.Scenario},
		{"the version of trainsim", h.Version == other.Version, h.Version, other.Version},
		{"the options", h.Options == other.Options, h.Options, other.Options},
	} {
		if !d.same {
			return fmt.Sprintf("%s: %v and %v", d.what, d.ours, d.its)
		}
	}
	sameAxis := func(a, b JournalAxis) bool { return a.Key == b.Key && slices.Equal(a.Values, b.Values) }
	switch {
	case !slices.EqualFunc(h.Axes, other.Axes, sameAxis):
		return "what varies, or its values"
	case h.Content != other.Content || h.Points != other.Points:
		return "what the scenario says"
	}
	return ""
}

// maxJournalLine bounds a line: a header with all values of all axes is the longest.
const maxJournalLine = 16 << 20

// JournalEntry is where a row stands in a journal.
type JournalEntry struct {
	Row    SweepRow
	Offset int64
	Length int
}

// ReadJournal reads a journal's header and calls each for every row, in the
// order of the file. Sound is the offset behind the last whole line: what
// follows was torn by a crash in the middle of a write. Lines that hold no row
// are passed over; bad counts them. An error means that there is no journal.
func ReadJournal(r io.Reader, each func(JournalEntry) error) (h *JournalHeader, sound int64, bad int, err error) {
	br := bufio.NewReaderSize(r, 64<<10)
	line, err := readLine(br)
	if err != nil {
		return nil, 0, 0, fmt.Errorf("its first line is cut off: %w", err)
	}
	h = &JournalHeader{}
	if err := json.Unmarshal(line, h); err != nil || h.Schema != JournalSchema {
		return nil, 0, 0, fmt.Errorf("it does not begin as a journal of this version (%s)", JournalSchema)
	}
	sound = int64(len(line))
	for {
		line, err := readLine(br)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return h, sound, bad, nil
		}
		if err != nil {
			return h, sound, bad, err
		}
		e := JournalEntry{Offset: sound, Length: len(line)}
		sound += int64(len(line))
		if json.Unmarshal(line, &e.Row) != nil || e.Row.ID == "" || e.Row.Point < 0 || e.Row.Point >= h.Points {
			bad++
			continue
		}
		if err := each(e); err != nil {
			return h, sound, bad, err
		}
	}
}

// readLine reads a line with its end. A line that just stops is
// io.ErrUnexpectedEOF, as is one that is longer than any row: both are torn.
func readLine(br *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := br.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case err == bufio.ErrBufferFull && len(line) < maxJournalLine:
			continue
		case err == io.EOF && len(line) == 0:
			return nil, io.EOF
		case err == io.EOF || err == bufio.ErrBufferFull:
			return nil, io.ErrUnexpectedEOF
		}
		return nil, err
	}
}

// maxReason is how much of a reason a row keeps.
const maxReason = 2000

// Line returns the row as a line of a journal.
func (r *SweepRow) Line() ([]byte, error) {
	cut := *r
	if len(cut.Reason) > maxReason {
		cut.Reason = string(bytes.ToValidUTF8([]byte(cut.Reason[:maxReason]), nil)) + " ..."
	}
	return encodeLine(cut)
}

// Line returns the header as the first line of a journal.
func (h *JournalHeader) Line() ([]byte, error) { return encodeLine(h) }

func encodeLine(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
