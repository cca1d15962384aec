package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// vectorFile is a file of testdata/vectors: worked examples whose expectations
// were derived by hand or asserted by PyTorch's tests, and random traces that
// an independent model of the allocator recorded.
type vectorFile struct {
	Worked []workedVector `json:"worked"`
	Random []randomVector `json:"random"`
}

type vectorHeader struct {
	Name     string              `json:"name"`
	Config   string              `json:"config"`
	Total    int64               `json:"total"`
	Overhead int64               `json:"overhead"`
	Fraction *float64            `json:"fraction"`
	Ops      [][]json.RawMessage `json:"ops"`
}

type workedVector struct {
	vectorHeader
	Expect        map[string]int64           `json:"expect"`
	Results       map[string]json.RawMessage `json:"results"`
	Blocks        []json.RawMessage          `json:"blocks"`
	FinalBlocks   []json.RawMessage          `json:"model_final_blocks"`
	PeakReserved  *int64                     `json:"model_peak_reserved"`
	PeakAllocated *int64                     `json:"model_peak_allocated"`
}

type randomVector struct {
	vectorHeader
	AllocAddr []json.RawMessage `json:"alloc_addr"`
	Reserved  [][2]int64        `json:"reserved"`
	Marks     [][]int64         `json:"marks"`
	Final     map[string]int64  `json:"final"`
	Segments  []json.RawMessage `json:"segments"`
}

func readVectors(t testing.TB, each func(name string, f *vectorFile)) {
	files, err := filepath.Glob("testdata/vectors/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		var f vectorFile
		require.NoError(t, json.Unmarshal(text, &f), name)
		each(strings.TrimSuffix(filepath.Base(name), ".json"), &f)
	}
}

func TestVectors(t *testing.T) {
	readVectors(t, func(file string, f *vectorFile) {
		for i := range f.Worked {
			w := &f.Worked[i]
			t.Run(file+"/"+w.Name, func(t *testing.T) { checkWorked(t, w) })
		}
		for i := range f.Random {
			r := &f.Random[i]
			t.Run(file+"/"+r.Name, func(t *testing.T) { checkRandom(t, r) })
		}
	})
}

// vectorRun replays the operations of a vector.
type vectorRun struct {
	t    *testing.T
	a    *Allocator
	refs map[int64]Ref
	last error // of the latest allocation
	addr int64 // of the latest allocation
}

func newVectorRun(t *testing.T, h *vectorHeader) *vectorRun {
	conf, err := ParseConf(h.Config)
	require.NoError(t, err)
	a := New(Config{Capacity: h.Total - h.Overhead, Total: h.Total, Conf: conf})
	if h.Fraction != nil {
		require.NoError(t, a.SetFraction(*h.Fraction))
	}
	return &vectorRun{t: t, a: a, refs: map[int64]Ref{}}
}

// do executes an operation and reports whether it was an allocation.
func (v *vectorRun) do(op []json.RawMessage) bool {
	var code string
	require.NoError(v.t, json.Unmarshal(op[0], &code))
	n := func(i int) int64 {
		x, err := strconv.ParseInt(string(op[i]), 10, 64)
		require.NoError(v.t, err)
		return x
	}
	switch code {
	case "a":
		v.store(n(1))(v.a.Malloc(n(2), int(n(3)), Activations))
		return true
	case "ap":
		v.store(n(1))(v.a.MallocPrivate(n(2), int(n(3)), Activations, int(n(4))))
		return true
	case "f":
		v.a.Free(v.refs[n(1)])
		delete(v.refs, n(1))
	case "r":
		v.a.RecordStream(v.refs[n(1)], int(n(2)))
	case "s":
		v.a.CompleteEvents(int(n(1)))
	case "e":
		v.a.EmptyCache()
	case "rp":
		v.a.ReleasePrivate(int(n(1)))
	case "c":
		v.setConf(op[1])
	case "fr":
		var x float64
		require.NoError(v.t, json.Unmarshal(op[1], &x))
		require.NoError(v.t, v.a.SetFraction(x))
	default:
		v.t.Fatalf("unknown operation %q", code)
	}
	return false
}

func (v *vectorRun) store(id int64) func(Ref, error) {
	return func(r Ref, err error) {
		v.last, v.addr = err, v.a.blocks[r].addr
		if err == nil {
			v.refs[id] = r
		}
	}
}

func (v *vectorRun) setConf(raw json.RawMessage) {
	var text string
	require.NoError(v.t, json.Unmarshal(raw, &text))
	conf, err := v.a.Conf().With(text)
	require.NoError(v.t, err)
	v.a.SetConf(conf)
}

// offset is an address as the vectors write it: from the first cudaMalloc, or
// from the first expandable window.
func offset(addr int64) int64 {
	if addr >= SegmentBase {
		return addr - SegmentBase
	}
	return addr - windowStride
}

func (v *vectorRun) oom() *OutOfMemory {
	var e *OutOfMemory
	require.True(v.t, errors.As(v.last, &e), "want out of memory, got %v", v.last)
	return e
}

func (v *vectorRun) stat(key string) int64 {
	s := v.a.Stats()
	name, poolName, _ := strings.Cut(key, ".")
	sets := map[string]StatSet{
		"allocated_bytes": s.AllocatedBytes, "allocation": s.Allocation,
		"active_bytes": s.ActiveBytes, "active": s.Active, "requested_bytes": s.RequestedBytes,
		"reserved_bytes": s.ReservedBytes, "segment": s.Segment,
		"inactive_split_bytes": s.InactiveSplitBytes, "inactive_split": s.InactiveSplit,
		"oversize_allocations": {All: s.OversizeAllocations}, "oversize_segments": {All: s.OversizeSegments},
		"num_alloc_retries": counter(s.NumAllocRetries), "num_ooms": counter(s.NumOOMs),
		"num_sync_all_streams": counter(s.NumSyncAllStreams),
		"num_device_alloc":     counter(s.NumDeviceAlloc), "num_device_free": counter(s.NumDeviceFree),
	}
	set, ok := sets[strings.TrimPrefix(name, "peak_")]
	require.True(v.t, ok, "unknown statistic %q", key)
	stat := map[string]Stat{"": set.All, "all": set.All, "small": set.Small, "large": set.Large}[poolName]
	if strings.HasPrefix(name, "peak_") {
		return stat.Peak
	}
	return stat.Current
}

func counter(n int64) StatSet { return StatSet{All: Stat{Current: n}} }

func checkWorked(t *testing.T, w *workedVector) {
	v := newVectorRun(t, &w.vectorHeader)
	for i, op := range w.Ops {
		alloc := v.do(op)
		want, checked := w.Results[strconv.Itoa(i)]
		switch {
		case checked && want[0] == '{':
			checkOOM(t, v.oom(), want)
		case checked:
			require.NoError(t, v.last)
			require.Equal(t, string(want), strconv.FormatInt(offset(v.addr), 10), "address of operation %d", i)
		case alloc:
			require.NoError(t, v.last, "operation %d", i)
		}
	}
	for key, want := range w.Expect {
		require.Equal(t, want, v.stat(key), key)
	}
	for _, want := range [][]json.RawMessage{w.Blocks, w.FinalBlocks} {
		if want != nil {
			require.Equal(t, canonical(t, want), listing(v.a, false), "blocks")
		}
	}
	if w.PeakReserved != nil {
		require.Equal(t, *w.PeakReserved, v.a.PeakReserved())
		require.Equal(t, *w.PeakAllocated, v.a.PeakAllocated())
	}
}

func checkOOM(t *testing.T, e *OutOfMemory, raw json.RawMessage) {
	var want struct {
		Tried, Free, Rounded, Allowed, Allocated *int64
		Unallocated                              *int64 `json:"reserved_unallocated"`
		Message                                  string
	}
	require.NoError(t, json.Unmarshal(raw, &want))
	for _, c := range []struct {
		want *int64
		got  int64
	}{
		{want.Tried, e.Tried}, {want.Free, e.Free}, {want.Rounded, e.Rounded},
		{want.Allowed, e.Allowed}, {want.Allocated, e.Allocated}, {want.Unallocated, e.Unallocated},
	} {
		if c.want != nil {
			require.Equal(t, *c.want, c.got)
		}
	}
	require.Equal(t, want.Message, e.Error())
}

func checkRandom(t *testing.T, r *randomVector) {
	v := newVectorRun(t, &r.vectorHeader)
	allocs, changes, marks := 0, [][2]int64(nil), 0
	reserved := int64(0)
	for i, op := range r.Ops {
		if v.do(op) {
			checkAlloc(t, v, i, r.AllocAddr[allocs])
			allocs++
		}
		if now := v.a.Reserved(); now != reserved {
			reserved = now
			changes = append(changes, [2]int64{int64(i), now})
		}
		for marks < len(r.Marks) && r.Marks[marks][0] == int64(i) {
			checkMark(t, v, r.Marks[marks])
			marks++
		}
	}
	require.Equal(t, len(r.AllocAddr), allocs)
	require.Equal(t, len(r.Marks), marks)
	require.Equal(t, r.Reserved, changes)
	for key, want := range r.Final {
		require.Equal(t, want, v.stat(key), key)
	}
	require.Equal(t, canonical(t, r.Segments), listing(v.a, true))
}

func checkAlloc(t *testing.T, v *vectorRun, op int, raw json.RawMessage) {
	if raw[0] != '{' {
		require.NoError(t, v.last, "operation %d", op)
		require.Equal(t, string(raw), strconv.FormatInt(offset(v.addr), 10), "address of operation %d", op)
		return
	}
	var want struct{ OOM [4]int64 }
	require.NoError(t, json.Unmarshal(raw, &want))
	e := v.oom()
	require.Equal(t, want.OOM, [4]int64{e.Tried, e.Free, e.Allocated, e.Unallocated}, "operation %d", op)
}

func checkMark(t *testing.T, v *vectorRun, mark []int64) {
	s := v.a.Stats()
	got := []int64{
		mark[0], s.AllocatedBytes.All.Current, s.ActiveBytes.All.Current, s.RequestedBytes.All.Current,
		s.ReservedBytes.All.Current, s.InactiveSplitBytes.All.Current, s.InactiveSplit.All.Current, s.Segment.All.Current,
	}
	require.Equal(t, mark, got, "operation %d", mark[0])
}

// canonical writes a list of JSON values in one line each, without blanks.
func canonical(t *testing.T, list []json.RawMessage) string {
	var b strings.Builder
	for _, raw := range list {
		var x any
		d := json.NewDecoder(strings.NewReader(string(raw)))
		d.UseNumber()
		require.NoError(t, d.Decode(&x))
		text, err := json.Marshal(x)
		require.NoError(t, err)
		fmt.Fprintf(&b, "%s\n", text)
	}
	return b.String()
}

// listing writes an allocator's segments as the vectors do.
func listing(a *Allocator, full bool) string {
	var b strings.Builder
	for _, s := range a.Segments() {
		var blocks []string
		for _, x := range s.Blocks {
			blocks = append(blocks, fmt.Sprintf(`[%d,"%s"]`, x.Size, map[BlockState]string{Inactive: "F", Allocated: "A", PendingFree: "P"}[x.State]))
		}
		poolName := "large"
		if s.Small {
			poolName = "small"
		}
		if full {
			fmt.Fprintf(&b, `[%d,%d,"%s",[%s]]`+"\n", offset(s.Addr), s.Stream, poolName[:1], strings.Join(blocks, ","))
		} else {
			fmt.Fprintf(&b, `["%s",[%s]]`+"\n", poolName, strings.Join(blocks, ","))
		}
	}
	return b.String()
}
