package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/report"
)

func header() *Header {
	return &Header{Schema: Schema, Version: "1", Command: "sweep", Scenario: "s", Content: "c",
		Axes: []report.Axis{{Key: "parallel.tp", Values: []string{"1", "2", "4"}}}, Points: 3, Shards: 1}
}

// someRow is a row of a point of the header's sweep.
func someRow(point int, outcome string, m *report.Metrics) report.SweepRow {
	return report.SweepRow{Point: point, ID: fmt.Sprintf("%032x", point+7), Outcome: outcome, Metrics: m,
		Settings: report.Settings{{Key: "parallel.tp", Value: fmt.Sprint(1 << point)}}}
}

func someRows() []report.SweepRow {
	m := &report.Metrics{GPUs: 8, Samples: 8, StepTime: 0.1, SampleTime: 0.0125, PeakMemory: 7, Capacity: 9}
	invalid := someRow(0, report.OutcomeInvalid, nil)
	invalid.Reason = "tp: \"no\"\nfor <two> reasons"
	return []report.SweepRow{someRow(2, report.OutcomeOK, m), invalid, someRow(1, report.OutcomeOOM, m)}
}

// rowLine is a row as a line of the header's journal.
func rowLine(t *testing.T, h *Header, r *report.SweepRow) []byte {
	_, key, err := h.line()
	require.NoError(t, err)
	line, err := r.Line()
	require.NoError(t, err)
	return seal(key[:], line)
}

func journalText(t *testing.T) (text []byte, ends []int) {
	text, _, err := header().line()
	require.NoError(t, err)
	ends = []int{len(text)}
	for _, r := range someRows() {
		text = append(text, rowLine(t, header(), &r)...)
		ends = append(ends, len(text))
	}
	return text, ends
}

// readAll reads a journal and its rows.
func readAll(text []byte) (rows []report.SweepRow, c *Contents, err error) {
	c, err = Read(bytes.NewReader(text), func(e Entry) error { rows = append(rows, e.Row); return nil })
	return rows, c, err
}

// Wherever a write is torn, the rows before it are all there, none of them is
// another, and the sound part ends behind the last of them.
func TestJournalTornAnywhere(t *testing.T) {
	text, ends := journalText(t)
	want := someRows()
	for cut := range len(text) + 1 {
		var got []report.SweepRow
		c, err := Read(bytes.NewReader(text[:cut]), func(e Entry) error {
			var again report.SweepRow
			require.NoError(t, json.Unmarshal(text[e.Offset:e.Offset+int64(e.Length)], &again))
			require.Equal(t, e.Row, again)
			got = append(got, e.Row)
			require.Equal(t, len(got)+1, e.Line)
			return nil
		})
		if cut < ends[0] {
			assert.Error(t, err)
			assert.Nil(t, c)
			continue
		}
		require.NoError(t, err)
		assert.Empty(t, c.Header.Difference(header()))
		n := 0
		for n+1 < len(ends) && ends[n+1] <= cut {
			n++
		}
		require.Len(t, got, n)
		for i := range got {
			assert.Equal(t, want[i], got[i])
		}
		assert.EqualValues(t, ends[n], c.Sound)
		assert.Zero(t, c.Damaged.Lines)
	}
}

// Whatever byte of a journal is changed: no row says what it did not say before.
func TestJournalChangedAnywhere(t *testing.T) {
	text, ends := journalText(t)
	want := someRows()
	for at := range text {
		for _, b := range []byte{text[at] ^ 1, text[at] ^ 0x10, '9', '-', '\n'} {
			if b == text[at] {
				continue
			}
			changed := bytes.Clone(text)
			changed[at] = b
			got, c, err := readAll(changed)
			if at < ends[0] {
				require.Error(t, err, "%q", changed[:ends[0]])
				continue
			}
			require.NoError(t, err)
			require.Less(t, len(got), len(want), "byte %d is %q", at, b)
			for _, row := range got {
				require.Contains(t, want, row)
			}
			if at < len(text)-1 {
				require.Positive(t, c.Damaged.Lines, "byte %d is %q", at, b)
			}
		}
	}
}

// A line of another sweep's journal is none of this one's.
func TestJournalRefusesLinesOfOthers(t *testing.T) {
	other := header()
	other.Options = "another"
	text, _ := journalText(t)
	text = append(text, rowLine(t, other, &someRows()[0])...)
	got, c, err := readAll(text)
	require.NoError(t, err)
	assert.Len(t, got, 3)
	assert.Equal(t, "line 5 is damaged: its checksum is another: it was changed or damaged", c.Damaged.String())
}

// What a row says is checked even under a right checksum.
func TestJournalChecksValues(t *testing.T) {
	for want, change := range map[string]func(*report.SweepRow){
		"point 3 is none of shard 0/1 of 3 points": func(r *report.SweepRow) { r.Point = 3 },
		"settings are of other keys":               func(r *report.SweepRow) { r.Settings[0].Key = "parallel.pp" },
		"id is \"x\"":                              func(r *report.SweepRow) { r.ID = "x" },
		"outcome is \"fine\"":                      func(r *report.SweepRow) { r.Outcome = "fine" },
		"a run without a step_time_s":              func(r *report.SweepRow) { r.Metrics = nil },
		"step_time_s is -5":                        func(r *report.SweepRow) { r.Outcome, r.StepTime = report.OutcomeOOM, -5 },
		"bubble_over_total is 1.5":                 func(r *report.SweepRow) { r.Bubble = 1.5 },
		"peak_memory_bytes is -1":                  func(r *report.SweepRow) { r.PeakMemory = -1 },
		"gpus is 0":                                func(r *report.SweepRow) { r.GPUs = 0 },
		"compute_s is 2 in a step of 0.1 s":        func(r *report.SweepRow) { r.Mean = &report.StageTime{Compute: 2} },
	} {
		row := someRows()[0]
		change(&row)
		text, _, err := header().line()
		require.NoError(t, err)
		got, c, err := readAll(append(text, rowLine(t, header(), &row)...))
		require.NoError(t, err)
		assert.Empty(t, got, want)
		assert.Contains(t, c.Damaged.Text, want)
	}
}

func TestJournalPassesOverDamagedLines(t *testing.T) {
	text, ends := journalText(t)
	for i := 1; i < 3; i++ {
		copy(text[ends[i]:ends[i+1]-1], bytes.Repeat([]byte{0}, ends[i+1]-1-ends[i]))
	}
	got, c, err := readAll(text)
	require.NoError(t, err)
	assert.Len(t, got, 1)
	assert.Equal(t, "2 lines are damaged, the first is line 3: it does not end with a checksum", c.Damaged.String())
	assert.EqualValues(t, len(text), c.Sound)
}

// A journal of before checksums, and what is no journal, says what it is.
func TestJournalNamesItsVersion(t *testing.T) {
	for text, want := range map[string]string{
		`{"schema":"trainsim.sweep-journal/v1","command":"sweep","points":3,"shards":1}`: `of another version of trainsim ("trainsim.sweep-journal/v1")`,
		`{"schema":"trainsim.run/v1"}`:                   "does not begin as a journal",
		"hello":                                          "does not begin as a journal",
		`{"schema":"trainsim.sweep-journal/v2"}`:         "cannot be trusted: it does not end with a checksum",
		`{"schema":"trainsim.sweep-journal/v2","sum":""`: "does not begin as a journal",
	} {
		_, _, err := readAll([]byte(text + "\n"))
		assert.ErrorContains(t, err, want, text)
	}
	for want, change := range map[string]func(*Header){
		"neither sweep nor plan": func(h *Header) { h.Command = "run" },
		"it has -1 points":       func(h *Header) { h.Points = -1 },
		"its shard is 2/2":       func(h *Header) { h.Shard, h.Shards = 2, 2 },
		"its shard is 0/0":       func(h *Header) { h.Shards = 0 },
		"it is a plan of":        func(h *Header) { h.Command = "plan" },
	} {
		h := header()
		change(h)
		line, _, err := h.line()
		require.NoError(t, err)
		_, _, err = readAll(line)
		assert.ErrorContains(t, err, want)
	}
}

// The checksum is that of any machine.
func TestChecksumIsFixed(t *testing.T) {
	line, key, err := header().line()
	require.NoError(t, err)
	assert.Equal(t, "c9ce817cfa8b24b2", fmt.Sprintf("%x", key))
	assert.True(t, bytes.HasSuffix(line, []byte(`,"sum":"c9ce817cfa8b24b2"}`+"\n")))
	assert.True(t, bytes.HasSuffix(rowLine(t, header(), &someRows()[0]), []byte(`,"sum":"e28ff3868a35fbcc"}`+"\n")))
}

func TestHeadersDiffer(t *testing.T) {
	for want, change := range map[string]func(*Header){
		"":                          func(h *Header) { h.Shard, h.Shards = 1, 2 },
		"the command":               func(h *Header) { h.Command = "plan" },
		"the scenario: s and other": func(h *Header) { h.Scenario = "other" },
		"the version":               func(h *Header) { h.Version = "2" },
		"the options":               func(h *Header) { h.Options = "--zip" },
		"what varies":               func(h *Header) { h.Axes[0].Values = []string{"1"} },
		"what the scenario says":    func(h *Header) { h.Content = "d" },
	} {
		other := header()
		change(other)
		d := header().Difference(other)
		assert.True(t, strings.HasPrefix(d, want), d)
		assert.Equal(t, want == "", d == "")
	}
}

// FuzzRead: no bytes make the reader panic, and what it calls sound
// reads the same again.
func FuzzRead(f *testing.F) {
	line, key, _ := header().line()
	row, _ := (&someRows()[0]).Line()
	f.Add(append(bytes.Clone(line), seal(key[:], row)...))
	f.Add(line[:10])
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		first, c, err := readAll(text)
		if err != nil {
			return
		}
		second, again, err := readAll(text[:c.Sound])
		require.NoError(t, err)
		require.Equal(t, c.Sound, again.Sound)
		require.Equal(t, len(first), len(second))
	})
}
