package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	ogórek "github.com/kisielk/og-rek"
	"github.com/stretchr/testify/require"

	"trainsim/memory"
)

// recorded runs a random workload with its trace and returns the snapshot.
func recorded(t testing.TB, seed uint64, conf string, steps int) *memory.Snapshot {
	w := newRecordedRun(t, seed, conf)
	for range steps {
		w.step()
	}
	s := w.a.Snapshot()
	for i := range s.Traces[0] {
		s.Traces[0][i].Time = int64(3 * i)
	}
	return s
}

// readSnapshot reads a file that holds a snapshot.
func readSnapshot(r io.ReadSeeker) (*memory.Snapshot, error) {
	s, _, err := readFile(r)
	return s, err
}

func pickled(t testing.TB, s *memory.Snapshot) []byte {
	var b bytes.Buffer
	require.NoError(t, WritePickle(&b, s))
	return b.Bytes()
}

// shown is the snapshot with the addresses that a file shows.
func shown(s *memory.Snapshot) *memory.Snapshot {
	out := &memory.Snapshot{Conf: s.Conf}
	for _, seg := range s.Segments {
		seg.Addr = display(seg.Addr)
		blocks := append([]memory.Block(nil), seg.Blocks...)
		for i := range blocks {
			blocks[i].Addr, blocks[i].Kind = display(blocks[i].Addr), memory.Unknown
		}
		seg.Blocks = blocks
		out.Segments = append(out.Segments, seg)
	}
	for _, trace := range s.Traces {
		trace = append([]memory.TraceEntry(nil), trace...)
		for i := range trace {
			trace[i].Kind = memory.Unknown
			if trace[i].Action != memory.ActionOOM {
				trace[i].Addr = display(trace[i].Addr)
			}
		}
		out.Traces = append(out.Traces, trace)
	}
	return out
}

func TestPickleRoundTrip(t *testing.T) {
	for seed, conf := range recordedConfs {
		s := recorded(t, uint64(seed), conf, 3000)
		got, err := readSnapshot(bytes.NewReader(pickled(t, s)))
		require.NoError(t, err)
		require.Equal(t, shown(s), got, conf)
	}
}

// TestPickleAgainstOgRek decodes what is written with an independent library,
// and reads what that library writes.
func TestPickleAgainstOgRek(t *testing.T) {
	s := recorded(t, 3, "expandable_segments:True", 400)
	raw := pickled(t, s)
	x, err := ogórek.NewDecoder(bytes.NewReader(raw)).Decode()
	require.NoError(t, err)
	top := x.(map[any]any)
	segments := top["segments"].([]any)
	require.Len(t, segments, len(s.Segments))
	for i, seg := range segments {
		m := seg.(map[any]any)
		addr, err := ogórek.AsInt64(m["address"])
		require.NoError(t, err)
		require.Equal(t, display(s.Segments[i].Addr), addr)
		require.Len(t, m["blocks"], len(s.Segments[i].Blocks))
		require.Equal(t, ogórek.Tuple{int64(0), int64(0)}, m["segment_pool_id"])
	}
	require.Len(t, top["device_traces"].([]any)[0], len(s.Traces[0]))
	require.Equal(t, true, top["allocator_settings"].(map[any]any)["expandable_segments"])
	for _, protocol := range []int{0, 1, 2, 3, 4, 5} {
		var again bytes.Buffer
		config := &ogórek.EncoderConfig{Protocol: protocol}
		require.NoError(t, ogórek.NewEncoderWithConfig(&again, config).Encode(x))
		got, err := readSnapshot(bytes.NewReader(again.Bytes()))
		require.NoError(t, err, "protocol %d", protocol)
		require.Equal(t, shown(s), got, "protocol %d", protocol)
	}
}

// TestPythonSnapshots reads the same snapshot as Python's pickle module wrote
// it in every protocol, and as JSON. It was built by hand in the shape of
// torch.cuda.memory._snapshot.
func TestPythonSnapshots(t *testing.T) {
	want := readSnapshotFile(t, "python.json")
	require.Len(t, want.Segments, 2)
	require.Len(t, want.Traces, 2)
	require.Len(t, want.Traces[0], 22)
	require.Equal(t, memory.Block{Addr: 0x7f3a40000000 + 8<<20, Size: 4 << 20, Requested: 4 << 20, State: memory.Allocated, Kind: memory.Unknown}, want.Segments[0].Blocks[2])
	require.Equal(t, memory.ActionOOM, want.Traces[0][21].Action)
	for protocol := range 6 {
		got := readSnapshotFile(t, fmt.Sprintf("python-protocol%d.pickle", protocol))
		require.Equal(t, want, got, "protocol %d", protocol)
	}
	replay := replayed(t, want, Options{})
	require.Zero(t, replay.Unmatched)
	require.Equal(t, replay.Allocs-1, replay.Recorded.Same, "all but the out-of-memory entry")
	require.Equal(t, 1, replay.Recorded.OOMs)
	require.Equal(t, 1, replay.OOMCount)
	require.EqualValues(t, 22<<20+100<<20, replay.Capacity)
	require.EqualValues(t, 62<<20, replay.Recorded.PeakReserved)
	require.EqualValues(t, 62<<20, replay.Stats.ReservedBytes.All.Peak)
}

func readSnapshotFile(t *testing.T, name string) *memory.Snapshot {
	f, err := os.Open(filepath.Join("testdata", "snapshots", name))
	require.NoError(t, err)
	defer f.Close()
	s, err := readSnapshot(f)
	require.NoError(t, err, name)
	return s
}

func replayed(t *testing.T, s *memory.Snapshot, o Options) *Replay {
	list := recordingsOf(s)
	require.NotEmpty(t, list)
	replay, err := list[0].Replay(context.Background(), o)
	require.NoError(t, err)
	return replay
}

// TestHostileFiles: every file that is not a snapshot is an error that says
// what is wrong.
func TestHostileFiles(t *testing.T) {
	evil := func(name string) string {
		raw, err := os.ReadFile(filepath.Join("testdata", "snapshots", name))
		require.NoError(t, err)
		return string(raw)
	}
	valid := string(pickled(t, recorded(t, 1, "", 50)))
	for _, c := range []struct{ name, file, want string }{
		{"empty", "", "the file is empty"},
		{"os.system through REDUCE", evil("evil-reduce.pickle"), "STACK_GLOBAL would run Python code"},
		{"os.system through GLOBAL", evil("evil-global.pickle"), "GLOBAL would run Python code"},
		{"truncated", valid[:len(valid)-10], "ends in the middle"},
		{"truncated in a string", "\x80\x04\x8c\x20abc", "ends in the middle"},
		{"8 EiB string", "\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7fabc", "ends in the middle"},
		{"4 GiB integer", "\x80\x04\x8b\xff\xff\xff\x7fabc", "ends in the middle"},
		{"protocol 9", "\x80\x09.", "protocol 9"},
		{"unknown instruction", "\x80\x04\xff.", "unknown instruction 0xff"},
		{"no value", "\x80\x04.", "0 values are left"},
		{"two values", "\x80\x04NN.", "2 values are left"},
		{"operands missing", "\x80\x04e.", "lacks its operands"},
		{"memo not set", "\x80\x04h\x05.", "memo 5 is used before it is set"},
		{"append to None", "\x80\x04NNa.", "not a list"},
		{"odd fields", "\x80\x04}(Nu.", "not a dictionary"},
		{"stack bomb", "\x80\x04" + strings.Repeat("N", maxStack+1), "ends in the middle"},
		{"full stack bomb", "\x80\x04" + strings.Repeat("N", maxStack+1) + ".", "values outside lists"},
		{"mark bomb", "\x80\x04" + strings.Repeat("(", maxStack+1) + ".", "values outside lists"},
		{"nested lists", "\x80\x04]" + "q\x00" + strings.Repeat("]h\x00a0", maxNested+2) + ".", "nested lists"},
		{"another pickle", "\x80\x04]K\x01a.", "it has neither segments nor device_traces"},
		{"a number", "\x80\x04K\x01.", "it has neither segments nor device_traces"},
		{"gzip", "\x1f\x8b\x08", "compressed"},
		{"torch.save", "PK\x03\x04", "torch.save"},
		{"text", "hello", "neither a pickle nor JSON"},
		{"another JSON", `{"a": 1}`, "it has neither segments nor device_traces"},
		{"JSON list of numbers", `[1]`, "cannot unmarshal"},
		{"truncated JSON", `{"segments": [`, "ends in the middle"},
		{"two JSON values", `{"segments": []}{}`, "more than one JSON value"},
		{"segments are a number", `{"segments": 3}`, "where a list should be"},
		{"float address", `{"device_traces": [[{"action":"alloc","addr":1.5,"size":1}]]}`, "not a whole number"},
		{"negative size", `{"device_traces": [[{"action":"alloc","addr":1,"size":-1}]]}`, "not possible"},
		{"huge address", `{"device_traces": [[{"action":"alloc","addr":18446744073709551615,"size":1}]]}`, "not possible"},
		{"blocks too short", `{"segments": [{"address":512,"total_size":1024,"blocks":[{"size":512,"state":"inactive"}]}]}`, "its blocks have 512 bytes of its 1024"},
		{"blocks with a gap", `{"segments": [{"address":512,"total_size":1024,"blocks":[{"address":600,"size":1024,"state":"inactive"}]}]}`, "does not continue"},
		{"overlap", `[{"address":512,"total_size":512,"blocks":[{"size":512,"state":"inactive"}]},{"address":512,"total_size":512,"blocks":[{"size":512,"state":"inactive"}]}]`, "overlap"},
		{"device", `{"segments": [{"device":-1,"address":512,"total_size":512,"blocks":[]}]}`, "not possible"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readSnapshot(strings.NewReader(c.file))
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := os.Stat(filepath.Join(os.TempDir(), "pwned"))
	require.Error(t, err, "a pickle was executed")
}

// TestScripts reads the vectors' form and refuses what is not.
func TestScripts(t *testing.T) {
	read := func(text string) ([]*Recording, error) { return ReadRecordings(strings.NewReader(text)) }
	list, err := read(`{"name":"x","total":1073741824,"ops":[["a",0,1048577,0],["r",0,1],["f",0],["s",1],["e"],["c",""],["fr",0.5],["ap",1,512,0,3],["rp",3]]}`)
	require.NoError(t, err)
	require.Len(t, list, 1)
	out, err := list[0].Replay(context.Background(), Options{})
	require.NoError(t, err)
	require.EqualValues(t, 20<<20, out.Stats.ReservedBytes.All.Peak)
	require.EqualValues(t, 512, out.Stats.AllocatedBytes.All.Current)
	for text, want := range map[string]string{
		`{"ops":[["zz",0]]}`:                       "unknown operation",
		`{"ops":[["a",0]]}`:                        "has 1 arguments; it takes 3",
		`{"ops":[[]]}`:                             "does not begin with its name",
		`{"ops":[["a",0,1.5,0]]}`:                  `operation "a"`,
		`{"ops":[],"config":"x:1"}`:                "unknown setting",
		`{"ops":[],"total":-1}`:                    "not possible",
		`{"ops":[],"total":1,"overhead":2}`:        "not possible",
		`{"ops":[],"fraction":2}`:                  "not possible",
		`{"ops":[],"total":1152921504606846976}`:   "at most 16 TiB",
		`{"worked":[{"ops":[["a",0,"x",0]]}]}`:     `operation "a"`,
		`[{"ops":[["e"]]},{"ops":[["e","more"]]}]`: "has 1 arguments; it takes 0",
		`{"ops":[["e"],["a",0,-5,0]]}`:             "record 0, operation 1: -5 bytes are allocated; write a size of 0 or more",
		`{"name":"x","ops":[["ap",0,-5,0,1]]}`:     "x, operation 0: -5 bytes are allocated",
		`[{"ops":[]},{"ops":[["fr",1.5]]}]`:        "record 1, operation 0: memory fraction 1.5; write a number from 0.0 to 1.0",
		`{"ops":[["c","x:1"]]}`:                    `record 0, operation 0: unknown setting "x"`,
	} {
		_, err := read(text)
		require.ErrorContains(t, err, want, text)
	}
}

// TestOtherInstructions: values that a snapshot never has, and instructions
// that Python's pickler rarely writes, are read over.
func TestOtherInstructions(t *testing.T) {
	segment := "}(X\x07\x00\x00\x00addressK\x00X\x0a\x00\x00\x00total_sizeM\x00\x02X\x06\x00\x00\x00blocks](}(X\x04\x00\x00\x00sizeM\x00\x02X\x05\x00\x00\x00stateU\x08inactiveueu"
	file := "\x80\x05\x95\x00\x00\x00\x00\x00\x00\x00\x00](" +
		"C\x03abcB\x03\x00\x00\x00abc\x8e\x03\x00\x00\x00\x00\x00\x00\x00abc" + // bytes
		"G\x00\x00\x00\x00\x00\x00\x00\x00N\x8a\x00\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01\x8b\x02\x00\x00\x00\x00\x01" + // numbers
		")K\x01\x85K\x01K\x02K\x03\x87(K\x01t" + // tuples
		"20(1" + // top of the stack doubled and dropped, a mark set and dropped
		"F1.5\nI7\nI01\nL7L\nS'abc'\nVabc\n" + // text
		segment + "e."
	s, err := readSnapshot(strings.NewReader(file))
	require.NoError(t, err)
	require.Equal(t, []memory.Segment{{Size: 512, Blocks: []memory.Block{{Size: 512, Kind: memory.Unknown}}}}, s.Segments)
	list := recordingsOf(s)
	require.Len(t, list, 1)
	require.Zero(t, list[0].Len())
	require.EqualValues(t, 512, replayed(t, s, Options{}).Stats.ReservedBytes.All.Current)
}

// TestManyMemos: a value is found again behind thousands of others.
func TestManyMemos(t *testing.T) {
	var b strings.Builder
	b.WriteString("\x80\x04](")
	for i := range 3 * memoDense {
		fmt.Fprintf(&b, "\x8c\x06%06d\x94", i)
	}
	b.WriteString("}\x94(\x8c\x04sizeK\x07\x8c\x06action\x8c\x05alloc\x8c\x04addrM\x00\x02u")
	fmt.Fprintf(&b, "j%c%c\x00\x00e.", 3*memoDense&255, 3*memoDense>>8)
	s, err := readSnapshot(strings.NewReader(b.String()))
	require.NoError(t, err)
	entry := memory.TraceEntry{Addr: 512, Size: 7, Action: memory.ActionAlloc, Kind: memory.Unknown}
	require.Equal(t, [][]memory.TraceEntry{{entry, entry}}, s.Traces)
}

// TestJSONNumbers: integers come as numbers, whole floats and strings.
func TestJSONNumbers(t *testing.T) {
	s, err := readSnapshot(strings.NewReader("\ufeff" + ` {"device_traces":[[{"action":"alloc","addr":"0x200","size":1e3,"stream":18446744073709551615,"time_us":null}]],"extra":[{"a":[1,2]},3]}`))
	require.NoError(t, err)
	require.Equal(t, memory.TraceEntry{Addr: 512, Size: 1000, Stream: -1, Kind: memory.Unknown}, s.Traces[0][0])
}
