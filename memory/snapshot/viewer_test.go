package snapshot

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/memory"
)

// viewerOps are the instructions that pytorch.org/memory_viz understands
// (torch/utils/viz/MemoryViz.js).
var viewerOps = []byte{
	opProto, opFrame, opMark, opStop, opNone, opNewTrue, opNewFalse, opBinInt, opBinInt1, opBinInt2, opLong1, opBinFloat,
	opShortBinUnicode, opBinUnicode, opEmptyList, opAppend, opAppends, opList, opEmptyDict, opSetItem, opSetItems, opDict,
	opEmptyTuple, opTuple1, opTuple2, opTuple3, opTuple, opMemoize, opBinPut, opLongBinPut, opBinGet, opLongBinGet,
}

// TestViewerUnderstands checks what memory_viz demands of a pickle: known
// instructions, integers that a JavaScript number holds, batches of elements
// that fit its argument list.
func TestViewerUnderstands(t *testing.T) {
	for seed, conf := range recordedConfs {
		s := recorded(t, uint64(seed), conf, 2500)
		r := newPickleReader(bytes.NewReader(pickled(t, s)))
		elements := 0
		for done := false; !done; {
			in, err := r.instr()
			require.NoError(t, err)
			require.True(t, bytes.IndexByte(viewerOps, in.op) >= 0, "instruction 0x%02x", in.op)
			if in.tag == tagInt {
				require.Less(t, in.n, int64(1)<<53)
				require.Greater(t, in.n, -int64(1)<<53)
			}
			switch in.op {
			case opEmptyDict:
				elements++
			case opAppends:
				require.LessOrEqual(t, elements, 4096)
				elements = 0
			}
			done = in.op == opStop
		}
	}
}

// TestViewerCanUndo plays the trace back from the final segments, as the
// viewer does: every entry must find what it undoes, and nothing may remain.
func TestViewerCanUndo(t *testing.T) {
	for seed, conf := range recordedConfs {
		s := shown(recorded(t, uint64(seed), conf, 2500))
		held := map[int64]int64{}
		var ranges rangeMap
		for _, seg := range s.Segments {
			ranges.add(seg)
			for _, b := range seg.Blocks {
				if b.State != memory.Inactive {
					held[b.Addr] = b.Requested
				}
			}
		}
		for i := len(s.Traces[0]) - 1; i >= 0; i-- {
			undoStrictly(t, &s.Traces[0][i], held, &ranges)
		}
		require.Empty(t, held, conf)
		require.Empty(t, ranges.list(), conf)
	}
}

func undoStrictly(t *testing.T, e *memory.TraceEntry, held map[int64]int64, ranges *rangeMap) {
	size, ok := held[e.Addr]
	before := reservedIn(ranges)
	switch e.Action {
	case memory.ActionAlloc:
		require.True(t, ok && size == e.Size, "alloc of what is not there")
	case memory.ActionFreeRequested:
		require.True(t, ok && size == e.Size, "free of what is not pending")
	case memory.ActionFreeCompleted:
		require.False(t, ok, "free of what is still there")
		held[e.Addr] = e.Size
		return
	}
	undo(e, map[int64]heldBlock{}, ranges)
	require.Equal(t, before-e.Reserves(), reservedIn(ranges), "%s at 0x%x", e.Action, e.Addr)
	if e.Action == memory.ActionAlloc {
		delete(held, e.Addr)
	}
}

func reservedIn(m *rangeMap) int64 {
	var total int64
	for _, i := range m.order.Append(nil) {
		total += m.ranges[i].Size
	}
	return total
}

// TestPickledIntegers covers the widths of integers and their borders.
func TestPickledIntegers(t *testing.T) {
	var b bytes.Buffer
	p := newPickler(&b)
	var want []int64
	for shift := range 63 {
		for _, n := range []int64{1<<shift - 1, 1 << shift, 1<<shift + 1} {
			want = append(want, n, -n)
		}
	}
	for _, n := range want {
		p.integer(n)
	}
	require.NoError(t, p.close())
	r := newPickleReader(bytes.NewReader(b.Bytes()))
	for i := 0; i < len(want); {
		in, err := r.instr()
		require.NoError(t, err)
		if in.op == opProto {
			continue
		}
		require.Equal(t, want[i], in.n)
		i++
	}
}

// TestLongStrings: repeated strings are written once, long ones survive up to
// what a reader keeps.
func TestLongStrings(t *testing.T) {
	conf, err := memory.ParseConf("max_split_size_mb:" + strings.Repeat("0", 300) + "64")
	require.NoError(t, err)
	s := &memory.Snapshot{Conf: conf}
	got, err := readSnapshot(bytes.NewReader(pickled(t, s)))
	require.NoError(t, err)
	require.EqualValues(t, 64<<20, got.Conf.MaxSplitSize)
}
