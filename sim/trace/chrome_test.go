package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var errFull = errors.New("disk full")

// full is a disk with room bytes left.
type full struct{ room int }

func (f *full) Write(p []byte) (int, error) {
	if len(p) > f.room {
		return f.room, errFull
	}
	f.room -= len(p)
	return len(p), nil
}

func TestChromeEvents(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, WriteChrome(&b, sample()))
	if *update {
		require.NoError(t, os.WriteFile("testdata/chrome.json", b.Bytes(), 0o644))
	}
	want, err := os.ReadFile("testdata/chrome.json")
	require.NoError(t, err)
	assert.Equal(t, string(want), b.String())

	var doc struct {
		TraceEvents []struct {
			Ph, Name, Cat string
			Pid, Tid      int
			Ts, Dur       json.Number
		} `json:"traceEvents"`
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &doc))
	counts := map[string]int{}
	for _, e := range doc.TraceEvents {
		counts[e.Ph]++
	}
	assert.Equal(t, map[string]int{"M": 10, "X": 2, "C": 3}, counts)
}

func TestChromeTimesAreExact(t *testing.T) {
	for ps, want := range map[sim.Time]string{
		0: "0.000000", 1: "0.000001", 1_000_000: "1.000000", 1_234_567: "1.234567",
		-1: "-0.000001", sim.Forever: "9223372036854.775807",
	} {
		assert.Equal(t, want, string(appendMicroseconds(nil, ps)))
	}
}

func TestChromeRefusesLooseEnds(t *testing.T) {
	r := sample()
	r.Add(Span{Lane: 7})
	assert.ErrorContains(t, WriteChrome(&bytes.Buffer{}, r), "lane 7 of 2")
	r = sample()
	r.Set(0, 7, 1)
	assert.ErrorContains(t, WriteChrome(&bytes.Buffer{}, r), "counter 7 of 3")
}

func TestNamesRoundTrip(t *testing.T) {
	for k := range NumKinds {
		back, err := kindNamed(k.String())
		require.NoError(t, err)
		assert.Equal(t, k, back)
	}
	for s := range NumStreams {
		var back Stream
		require.NoError(t, back.UnmarshalText([]byte(s.String())))
		assert.Equal(t, s, back)
	}
	for _, k := range []CounterKind{MemoryByKind, MemoryReserved, LinkRate} {
		text, err := k.MarshalText()
		require.NoError(t, err)
		var back CounterKind
		require.NoError(t, back.UnmarshalText(text))
		assert.Equal(t, k, back)
	}
	_, err := NumStreams.MarshalText()
	assert.ErrorContains(t, err, "does not exist")
}
