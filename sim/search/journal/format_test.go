package journal

import (
	"bytes"
	"encoding/json"
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

func someRows() []report.SweepRow {
	return []report.SweepRow{
		{Point: 2, ID: "aa", Settings: report.Settings{{Key: "parallel.tp", Value: "4"}}, Outcome: report.OutcomeOK, Metrics: &report.Metrics{GPUs: 8, StepTime: 0.1, PeakMemory: 7}},
		{Point: 0, ID: "bb", Settings: report.Settings{{Key: "parallel.tp", Value: "1"}}, Outcome: report.OutcomeInvalid, Reason: "tp: \"no\"\nfor <two> reasons"},
		{Point: 1, ID: "cc", Settings: report.Settings{{Key: "parallel.tp", Value: "2"}}, Outcome: report.OutcomeOOM, Reason: "full", Metrics: &report.Metrics{}},
	}
}

func journalText(t *testing.T) (text []byte, ends []int) {
	line, err := header().Line()
	require.NoError(t, err)
	text, ends = line, []int{len(line)}
	for _, r := range someRows() {
		line, err := r.Line()
		require.NoError(t, err)
		text = append(text, line...)
		ends = append(ends, len(text))
	}
	return text, ends
}

// Wherever a write is torn, the rows before it are all there, none of them is
// another, and the sound part ends behind the last of them.
func TestJournalTornAnywhere(t *testing.T) {
	text, ends := journalText(t)
	want := someRows()
	for cut := range len(text) + 1 {
		var got []report.SweepRow
		h, sound, bad, err := Read(bytes.NewReader(text[:cut]), func(e Entry) error {
			var again report.SweepRow
			require.NoError(t, json.Unmarshal(text[e.Offset:e.Offset+int64(e.Length)], &again))
			require.Equal(t, e.Row, again)
			got = append(got, e.Row)
			return nil
		})
		if cut < ends[0] {
			assert.Error(t, err)
			assert.Nil(t, h)
			continue
		}
		require.NoError(t, err)
		assert.Empty(t, h.Difference(header()))
		n := 0
		for n+1 < len(ends) && ends[n+1] <= cut {
			n++
		}
		require.Len(t, got, n)
		for i := range got {
			assert.Equal(t, want[i], got[i])
		}
		assert.EqualValues(t, ends[n], sound)
		assert.Zero(t, bad)
	}
}

func TestJournalPassesOverDamagedLines(t *testing.T) {
	text, ends := journalText(t)
	damaged := append([]byte(nil), text...)
	copy(damaged[ends[1]:ends[2]-1], bytes.Repeat([]byte{0}, ends[2]-1-ends[1]))
	n := 0
	_, sound, bad, err := Read(bytes.NewReader(damaged), func(Entry) error { n++; return nil })
	require.NoError(t, err)
	assert.Equal(t, 2, n)
	assert.Equal(t, 1, bad)
	assert.EqualValues(t, len(text), sound)
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
	line, _ := header().Line()
	row, _ := (&someRows()[0]).Line()
	f.Add(append(append([]byte(nil), line...), row...))
	f.Add(line[:10])
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		read := func(text []byte) (out []report.SweepRow, sound int64, err error) {
			_, sound, _, err = Read(bytes.NewReader(text), func(e Entry) error { out = append(out, e.Row); return nil })
			return out, sound, err
		}
		first, sound, err := read(text)
		if err != nil {
			return
		}
		second, again, err := read(text[:sound])
		require.NoError(t, err)
		require.Equal(t, sound, again)
		require.Equal(t, len(first), len(second))
	})
}
