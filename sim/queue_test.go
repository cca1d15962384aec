package sim

import (
	"fmt"
	"sort"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEventIs24Bytes(t *testing.T) {
	assert.Equal(t, uintptr(24), unsafe.Sizeof(event{}))
}

func TestEventKeepsItsFields(t *testing.T) {
	e := newEvent(7, 9, 1<<16-1, 1<<15+3, 1<<32-2)
	assert.Equal(t, Time(7), e.at)
	assert.Equal(t, uint64(9), e.seq)
	assert.Equal(t, HandlerID(1<<16-1), e.dst())
	assert.Equal(t, uint16(1<<15+3), e.kind())
	assert.Equal(t, uint32(1<<32-2), e.arg())
}

// Both comparisons are one order: time, then the sequence number with its
// phase bit.
func TestCompareWithAndWithoutBranch(t *testing.T) {
	times := []Time{0, 1, 2, Forever}
	seqs := []uint64{0, 1, 5, endPhase, endPhase | 5}
	for _, at := range times {
		for _, other := range times {
			for _, s := range seqs {
				for _, o := range seqs {
					a, b := event{at: at, seq: s}, event{at: other, seq: o}
					want := at < other || at == other && s < o
					assert.Equal(t, want, a.before(&b))
					assert.Equal(t, want, a.less(&b) == 1)
				}
			}
		}
	}
}

func TestFirstOfFourSiblings(t *testing.T) {
	r := NewRand(1, "siblings")
	for range 1000 {
		var c [4]event
		want := 0
		for i := range c {
			c[i] = event{at: Time(r.IntN(3)), seq: uint64(r.IntN(3)<<2 + i)}
			if c[i].before(&c[want]) {
				want = i
			}
		}
		require.Equal(t, want, first(&c))
	}
}

// oracle keeps pending events in a sorted slice.
type oracle []event

func (o *oracle) push(e event) {
	i := sort.Search(len(*o), func(i int) bool { return e.before(&(*o)[i]) })
	*o = append(*o, event{})
	copy((*o)[i+1:], (*o)[i:])
	(*o)[i] = e
}

func (o *oracle) pop() event {
	e := (*o)[0]
	*o = (*o)[1:]
	return e
}

// A random history of pushes now, pushes later, pushes at the end of the
// instant and pops comes out of the queue, of a plain heap and of a sorted
// slice in one order, whatever the share of ties.
func TestQueueAgainstOracle(t *testing.T) {
	for _, spread := range []int{1, 4, 1000, 1 << 40} {
		for seed := range uint64(20) {
			t.Run(fmt.Sprintf("spread=%d/seed=%d", spread, seed), func(t *testing.T) { compareQueues(t, spread, seed) })
		}
	}
}

func compareQueues(t *testing.T, spread int, seed uint64) {
	r := NewRand(seed, "queue")
	var withFIFO, plain queue
	var want oracle
	now, seq := Time(0), uint64(0)
	for range 3000 {
		if len(want) > 0 && r.IntN(5) < 2 {
			e := want.pop()
			require.Equal(t, e, *withFIFO.peek())
			require.Equal(t, e, withFIFO.pop())
			require.Equal(t, e, plain.pop())
			now = e.at
			continue
		}
		e := newEvent(now+Time(r.IntN(spread)), seq, HandlerID(seq), uint16(seq), uint32(seq))
		switch r.IntN(4) {
		case 0:
			e.at = now
			withFIFO.pushNow(e)
		case 1:
			e.at, e.seq = now, seq|endPhase
			withFIFO.push(e)
		default:
			withFIFO.push(e)
		}
		plain.push(e)
		want.push(e)
		seq++
		require.Equal(t, len(want), withFIFO.len())
	}
	for len(want) > 0 {
		e := want.pop()
		require.Equal(t, e, withFIFO.pop())
		require.Equal(t, e, plain.popHeap())
	}
	assert.Nil(t, withFIFO.peek())
	assert.Zero(t, plain.len())
}

// Two events that keep releasing each other at one instant take the memory of
// two events, not that of all that passed.
func TestFIFOStaysSmallInALongInstant(t *testing.T) {
	var q queue
	q.pushNow(event{seq: 0})
	for seq := uint64(1); seq < 100_000; seq++ {
		q.pushNow(event{seq: seq})
		require.Equal(t, seq-1, q.pop().seq)
	}
	assert.Less(t, cap(q.fifo), 64)
}
