package trace

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim"
)

// sample is a recording of two ranks with a span of each kind of field.
func sample() *Recording {
	r := &Recording{}
	l0 := r.AddLane(Lane{Rank: 0, Stage: 0, Stream: Actions})
	l1 := r.AddLane(Lane{Rank: 5, Stage: 1, Stream: DP.Stream()})
	mem := r.AddCounter(Counter{Kind: MemoryByKind, Name: "weights", Rank: 0, Limit: 80e9})
	res := r.AddCounter(Counter{Kind: MemoryReserved, Rank: 0, Limit: 80e9})
	link := r.AddCounter(Counter{Kind: LinkRate, Name: `gpu0->"nic"`, Rank: -1, Limit: 50e9})
	r.Add(Span{Start: 0, End: 1234567, Lane: l0, Kind: Forward, Name: r.Name("F0"), Microbatch: 0})
	r.Add(Span{Start: 2 * sim.Microsecond, End: 5 * sim.Microsecond, Lane: l1, Kind: DP.Kind(), Name: r.Name("all-reduce <0>"), Microbatch: -1, Chunk: 2})
	r.Set(0, mem, 10e9)
	r.Set(sim.Microsecond, res, 12e9)
	r.Set(2*sim.Microsecond, link, 49e9)
	return r
}

func encode(t testing.TB, r *Recording) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, r.encodeJSON(&b))
	return b.Bytes()
}

// decode reads what encode wrote.
func decode(rd io.Reader) (*Recording, error) { return newDecoder(rd).recording() }

func TestSavedRoundTrip(t *testing.T) {
	big := sample()
	for i := range 3*chunkSpans + 7 {
		big.Add(Span{Start: sim.Time(i), End: sim.Time(2 * i), Kind: Backward, Chunk: uint16(i), Microbatch: int32(i)})
		big.Set(sim.Time(i), 0, int64(i))
	}
	for name, r := range map[string]*Recording{"empty": {}, "small": sample(), "several blocks": big} {
		t.Run(name, func(t *testing.T) {
			text := encode(t, r)
			back, err := decode(bytes.NewReader(text))
			require.NoError(t, err)
			assert.Equal(t, r.Len(), back.Len())
			assert.Equal(t, len(r.Samples()), len(back.Samples()))
			assert.Equal(t, string(text), string(encode(t, back)))
		})
	}
}

func TestDecodedRecordingGoesOn(t *testing.T) {
	back, err := decode(bytes.NewReader(encode(t, sample())))
	require.NoError(t, err)
	assert.Equal(t, uint32(0), back.Name("F0"))
	assert.Equal(t, uint32(2), back.Name("new"))
}

// A file keeps its meaning when its list of kinds is ordered differently.
func TestKindsGoByName(t *testing.T) {
	text := strings.Replace(string(encode(t, sample())), `"forward","backward"`, `"backward","forward"`, 1)
	back, err := decode(strings.NewReader(text))
	require.NoError(t, err)
	for s := range back.Spans {
		assert.Equal(t, Backward, s.Kind)
		break
	}
}

func TestDecodeRefuses(t *testing.T) {
	good := string(encode(t, sample()))
	cases := []struct{ name, old, new, want string }{
		{"truncated", `"samples":`, "", "invalid character"},
		{"fraction", `"start":[0`, `"start":[0.5`, "64-bit integers"},
		{"overflow", `"start":[0`, `"start":[99999999999999999999`, "64-bit integers"},
		{"end overflows", `"start":[0`, `"start":[9223372036854775807`, "ends before it starts"},
		{"negative time", `"start":[0`, `"start":[-1`, "from 0 to"},
		{"short column", `"start":[0,`, `"start":[`, "entries"},
		{"missing column", `"chunk"`, `"chonk"`, "chunk"},
		{"column twice over", `"chunk"`, `"more":[],"chunk"`, "columns"},
		{"text for a column", `"start":[0`, `"start":["x"`, "64-bit integers"},
		{"lane", `"lane":[0`, `"lane":[2`, "the lane does not exist"},
		{"kind", `"kind":[0`, `"kind":[99`, "kind 99"},
		{"unknown kind", `"forward"`, `"sideways"`, "write one of forward"},
		{"unknown stream", `"actions"`, `"act"`, "unknown stream"},
		{"name", `"name":[0`, `"name":[7`, "the name does not exist"},
		{"counter", `"counter":[0`, `"counter":[3`, "the counter does not exist"},
		{"sample time", `"at":[0`, `"at":[-4`, "from 0 to"},
		{"rank", `"rank":5`, `"rank":-5`, "out of range"},
		{"limit", `"limit":80000000000`, `"limit":-1`, "limit -1"},
		{"huge limit", `"limit":80000000000`, `"limit":1e300`, "out of range"},
		{"key", `"lanes"`, `"lines"`, "unknown key"},
		{"type", `"lanes":[`, `"lanes":7,"names":[`, "expected \"[\""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			require.Contains(t, good, c.old)
			_, err := decode(strings.NewReader(strings.Replace(good, c.old, c.new, 1)))
			require.Error(t, err)
			assert.ErrorContains(t, err, c.want)
		})
	}
	for i := range len(good) {
		_, err := decode(strings.NewReader(good[:i]))
		require.Error(t, err, "cut after %d bytes", i)
	}
	for _, text := range []string{"", "null", "[]", "7", "{", `{"spans":[null]}`, "{\"spans\":[{}]}"} {
		_, err := decode(strings.NewReader(text))
		assert.Error(t, err, text)
	}
}

// endless gives one string that never ends.
type endless struct{ started bool }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	if !e.started {
		e.started = true
		return copy(p, `{"names":["`), nil
	}
	return len(p), nil
}

func TestEndlessValueIsAnError(t *testing.T) {
	_, err := decode(&endless{})
	assert.ErrorContains(t, err, "longer than 16 MiB")
}

func TestLongBlockIsAnError(t *testing.T) {
	text := `{"spans":[{"start":[` + strings.Repeat("0,", maxBlockRows) + `0]}]}`
	_, err := decode(strings.NewReader(text))
	assert.ErrorIs(t, err, errRows)
}

func TestSavedRun(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, WriteSaved(&b, "s/v1", map[string]int{"a": 1}, sample()))
	var rep map[string]int
	r, err := ReadSaved(bytes.NewReader(b.Bytes()), "s/v1", &rep)
	require.NoError(t, err)
	assert.Equal(t, map[string]int{"a": 1}, rep)
	assert.Equal(t, 2, r.Len())

	_, err = ReadSaved(bytes.NewReader(b.Bytes()), "s/v2", &rep)
	assert.ErrorContains(t, err, `its schema is "s/v1"; this version reads "s/v2"`)
	_, err = ReadSaved(strings.NewReader(`{"schema":"s/v1","other":[1],"report":{}}`), "s/v1", &rep)
	assert.ErrorContains(t, err, `no "recording"`)
	assert.Error(t, WriteSaved(&b, "s", func() {}, sample()))
}

func TestEncodeRefusesWhatCannotBeReadBack(t *testing.T) {
	for name, add := range map[string]func(r *Recording){
		"lane":    func(r *Recording) { r.Add(Span{Lane: 9}) },
		"name":    func(r *Recording) { r.Add(Span{Name: 9}) },
		"kind":    func(r *Recording) { r.Add(Span{Kind: NumKinds}) },
		"time":    func(r *Recording) { r.Add(Span{Start: 2, End: 1}) },
		"counter": func(r *Recording) { r.Set(0, 9, 1) },
		"stream":  func(r *Recording) { r.AddLane(Lane{Stream: NumStreams}) },
	} {
		r := sample()
		add(r)
		assert.Error(t, r.encodeJSON(&bytes.Buffer{}), name)
	}
}

func TestFailedWritesAreErrors(t *testing.T) {
	for _, room := range []int{0, 20, 300} {
		assert.ErrorIs(t, WriteSaved(&full{room}, "s", 1, sample()), errFull)
		assert.ErrorIs(t, WriteChrome(&full{room}, sample()), errFull)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encode(f, sample()))
	f.Add(encode(f, &Recording{}))
	f.Add([]byte(`{"spans":[{"start":[1],"duration":[9223372036854775807]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decode(bytes.NewReader(data))
		if err != nil {
			return
		}
		text := encode(t, r)
		back, err := decode(bytes.NewReader(text))
		require.NoError(t, err)
		assert.Equal(t, string(text), string(encode(t, back)))
		require.NoError(t, WriteChrome(&bytes.Buffer{}, r))
	})
}

func BenchmarkSaved(b *testing.B) {
	r := sample()
	for i := range 100_000 {
		t := sim.Time(i) * sim.Microsecond
		r.Add(Span{Start: t, End: t + sim.Microsecond, Kind: Kind(i % int(NumKinds)), Microbatch: int32(i % 16)})
	}
	text := encode(b, r)
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			encode(b, r)
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			_, err := decode(bytes.NewReader(text))
			require.NoError(b, err)
		}
	})
	b.Run("chrome", func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, WriteChrome(&bytes.Buffer{}, r))
		}
	})
}
