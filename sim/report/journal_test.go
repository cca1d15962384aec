package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func header() *JournalHeader {
	return &JournalHeader{Schema: JournalSchema, Version: "1", Command: "sweep", Scenario: "s", Content: "c",
		Axes: []JournalAxis{{"parallel.tp", []string{"1", "2", "4"}}}, Points: 3, Shards: 1}
}

func rows() []SweepRow {
	return []SweepRow{
		{Point: 2, ID: "aa", Settings: Settings{{"parallel.tp", "4"}}, Outcome: OutcomeOK, Metrics: &Metrics{GPUs: 8, StepTime: 0.1, PeakMemory: 7}},
		{Point: 0, ID: "bb", Settings: Settings{{"parallel.tp", "1"}}, Outcome: OutcomeInvalid, Reason: "tp: \"no\"\nfor <two> reasons"},
		{Point: 1, ID: "cc", Settings: Settings{{"parallel.tp", "2"}}, Outcome: OutcomeOOM, Reason: "full", Metrics: &Metrics{}},
	}
}

func journalText(t *testing.T) (text []byte, ends []int) {
	line, err := header().Line()
	require.NoError(t, err)
	text, ends = line, []int{len(line)}
	for _, r := range rows() {
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
	want := rows()
	for cut := range len(text) + 1 {
		var got []SweepRow
		h, sound, bad, err := ReadJournal(bytes.NewReader(text[:cut]), func(e JournalEntry) error {
			var again SweepRow
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
	_, sound, bad, err := ReadJournal(bytes.NewReader(damaged), func(JournalEntry) error { n++; return nil })
	require.NoError(t, err)
	assert.Equal(t, 2, n)
	assert.Equal(t, 1, bad)
	assert.EqualValues(t, len(text), sound)
}

func TestHeadersDiffer(t *testing.T) {
	for want, change := range map[string]func(*JournalHeader){
		"":                          func(h *JournalHeader) { h.Shard, h.Shards = 1, 2 },
		"the command":               func(h *JournalHeader) { h.Command = "plan" },
		"the scenario: s and other": func(h *JournalHeader) { h.Scenario = "other" },
		"the version":               func(h *JournalHeader) { h.Version = "2" },
		"the options":               func(h *JournalHeader) { h.Options = "--zip" },
		"what varies":               func(h *JournalHeader) { h.Axes[0].Values = []string{"1"} },
		"what the scenario says":    func(h *JournalHeader) { h.Content = "d" },
	} {
		other := header()
		change(other)
		d := header().Difference(other)
		assert.True(t, strings.HasPrefix(d, want), d)
		assert.Equal(t, want == "", d == "")
	}
}

func TestLongReasonsAreCut(t *testing.T) {
	r := SweepRow{ID: "x", Reason: strings.Repeat("é", 5000)}
	line, err := r.Line()
	require.NoError(t, err)
	assert.Less(t, len(line), 2*maxReason)
	var again SweepRow
	require.NoError(t, json.Unmarshal(line, &again))
	assert.True(t, strings.HasSuffix(again.Reason, "é ..."))
}

// FuzzReadJournal: no bytes make the reader panic, and what it calls sound
// reads the same again.
func FuzzReadJournal(f *testing.F) {
	line, _ := header().Line()
	row, _ := (&rows()[0]).Line()
	f.Add(append(append([]byte(nil), line...), row...))
	f.Add(line[:10])
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		read := func(text []byte) (out []SweepRow, sound int64, err error) {
			_, sound, _, err = ReadJournal(bytes.NewReader(text), func(e JournalEntry) error { out = append(out, e.Row); return nil })
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
