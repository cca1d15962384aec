package sim

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// handlerFunc makes an actor of a function.
type handlerFunc func(k *Engine, kind uint16, arg uint32) error

func (f handlerFunc) Handle(k *Engine, kind uint16, arg uint32) error { return f(k, kind, arg) }

// logger notes every event as "time kind arg".
func logger(log *[]string) handlerFunc {
	return func(k *Engine, kind uint16, arg uint32) error {
		*log = append(*log, fmt.Sprintf("%v %d %d", k.Now(), kind, arg))
		return nil
	}
}

func TestEventsOfOneInstantKeepTheOrderOfScheduling(t *testing.T) {
	var k Engine
	var log []string
	id := k.Register(logger(&log))
	k.At(2, id, 0, 0)
	k.At(1, id, 0, 1)
	k.At(2, id, 0, 2)
	k.At(1, id, 0, 3)
	require.NoError(t, k.Run(context.Background()))
	assert.Equal(t, []string{"1ps 0 1", "1ps 0 3", "2ps 0 0", "2ps 0 2"}, log)
	assert.Equal(t, uint64(4), k.Processed())
	assert.Zero(t, k.Pending())
	assert.Equal(t, Time(2), k.Now())
}

// At the end of an instant come the AtEnd events, after the normal events that
// other AtEnd events still schedule for that instant.
func TestAtEndComesAfterAllNormalEventsOfTheInstant(t *testing.T) {
	var k Engine
	var log []string
	note := logger(&log)
	var id HandlerID
	id = k.Register(handlerFunc(func(k *Engine, kind uint16, arg uint32) error {
		switch arg {
		case 1: // a normal event asks for the end, then for more normal ones
			k.AtEnd(id, 9, 10)
			k.At(k.Now(), id, 0, 2)
			k.After(0, id, 0, 3)
			k.AtEnd(id, 9, 11)
			k.At(k.Now()+1, id, 0, 5)
		case 10: // the first of the end asks for one more normal event
			k.At(k.Now(), id, 0, 4)
		}
		return note.Handle(k, kind, arg)
	}))
	k.At(1, id, 0, 1)
	require.NoError(t, k.Run(context.Background()))
	assert.Equal(t, []string{"1ps 0 1", "1ps 0 2", "1ps 0 3", "1ps 9 10", "1ps 0 4", "1ps 9 11", "2ps 0 5"}, log)
}

func TestAtEndBeforeTheRun(t *testing.T) {
	var k Engine
	var log []string
	id := k.Register(logger(&log))
	k.AtEnd(id, 9, 0)
	k.At(0, id, 0, 1)
	require.NoError(t, k.Run(context.Background()))
	assert.Equal(t, []string{"0s 0 1", "0s 9 0"}, log)
}

func TestRunUntilIsAReproducibleBoundary(t *testing.T) {
	whole := newHolder("tie", 100, 3)
	require.NoError(t, whole.RunUntil(context.Background(), 40*Microsecond))

	cut := newHolder("tie", 100, 3)
	for at := Time(0); at <= 40*Microsecond; at += 700 * Nanosecond {
		require.NoError(t, cut.RunUntil(context.Background(), at))
		require.LessOrEqual(t, cut.Now(), at)
	}
	require.NoError(t, cut.RunUntil(context.Background(), 40*Microsecond))
	assert.Equal(t, whole.Now(), cut.Now())
	assert.Equal(t, whole.Processed(), cut.Processed())
	for whole.Pending() > 0 {
		require.Equal(t, whole.queue.pop(), cut.queue.pop())
	}
}

func TestClockIsMonotone(t *testing.T) {
	var k Engine
	last, r := Time(0), NewRand(3, "clock")
	var id HandlerID
	id = k.Register(handlerFunc(func(k *Engine, _ uint16, left uint32) error {
		require.GreaterOrEqual(t, k.Now(), last)
		last = k.Now()
		if left > 0 {
			k.After(Time(r.IntN(3)), id, 0, left-1)
		}
		return nil
	}))
	for range 50 {
		k.At(Time(r.IntN(100)), id, 0, 100)
	}
	require.NoError(t, k.Run(context.Background()))
	assert.Equal(t, uint64(50*101), k.Processed())
}

func TestLivelockIsAnErrorThatLosesNoEvent(t *testing.T) {
	var k Engine
	again := true
	var id HandlerID
	id = k.Register(handlerFunc(func(k *Engine, _ uint16, _ uint32) error {
		if again {
			k.After(0, id, 0, 0)
		}
		return nil
	}))
	k.maxPerInstant, k.checkAt = 5000, 0
	k.At(3, id, 0, 0)
	err := k.Run(context.Background())
	require.ErrorIs(t, err, ErrLivelock)
	assert.EqualError(t, err, "simulated time does not advance: 5000 events at 3ps")
	assert.Equal(t, uint64(5000), k.Processed())
	assert.Equal(t, 1, k.Pending())

	again = false
	k.maxPerInstant, k.checkAt = 0, 0
	require.NoError(t, k.Run(context.Background()))
	assert.Equal(t, uint64(5001), k.Processed())
}

func TestBusyInstantsBelowTheLimitAreNoLivelock(t *testing.T) {
	var k Engine
	var log []string
	id := k.Register(logger(&log))
	k.maxPerInstant, k.checkAt = 10, 0
	for at := range Time(300) {
		for range 10 {
			k.At(at, id, 0, 0)
		}
	}
	require.NoError(t, k.Run(context.Background()))
	assert.Len(t, log, 3000)
}

func TestEventLimit(t *testing.T) {
	for _, limit := range []uint64{1, 1023, 1024, 1025, 5000} {
		k := newHolder("exp", 10, 0)
		k.SetMaxEvents(limit)
		require.ErrorIs(t, k.Run(context.Background()), ErrEventLimit)
		assert.Equal(t, limit, k.Processed())
		assert.Equal(t, 10, k.Pending())
	}
}

func TestCancellation(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	k := newHolder("exp", 10, 0)
	k.At(Microsecond, k.Register(handlerFunc(func(*Engine, uint16, uint32) error { cancel(); return nil })), 0, 0)
	require.ErrorIs(t, k.Run(ctx), context.Canceled)
	done := k.Processed()
	assert.LessOrEqual(t, done, uint64(2*checkEvery))

	require.ErrorIs(t, k.Run(ctx), context.Canceled)
	assert.Equal(t, done, k.Processed(), "a run under a done context handles nothing")
	k.SetMaxEvents(done + 1)
	require.ErrorIs(t, k.Run(context.Background()), ErrEventLimit, "a cancelled run can go on")
}

func TestTheFirstFailureStopsTheRun(t *testing.T) {
	var k Engine
	first, second := errors.New("first"), errors.New("second")
	id := k.Register(handlerFunc(func(k *Engine, _ uint16, arg uint32) error {
		k.Fail(first)
		return second
	}))
	k.At(1, id, 0, 0)
	k.At(1, id, 0, 1)
	require.ErrorIs(t, k.Run(context.Background()), first)
	assert.Equal(t, uint64(1), k.Processed())
	require.ErrorIs(t, k.Run(context.Background()), first, "a failure is final")
	assert.Equal(t, uint64(1), k.Processed())
}

// What lies beyond the Horizon never happens, and the engine says so; all before
// it does.
func TestEventsBeyondTheHorizonAreLeftOut(t *testing.T) {
	var k Engine
	var log []string
	id := k.Register(logger(&log))
	k.At(Horizon, id, 0, 1)
	require.NoError(t, k.Run(context.Background()))
	assert.Equal(t, []string{"9e+06s 0 1"}, log)
	assert.False(t, k.Overran())
	k.After(1, id, 0, 2)
	k.After(Forever, id, 0, 3)
	assert.Zero(t, k.Pending())
	assert.True(t, k.Overran())
	require.NoError(t, k.Run(context.Background()))
	assert.Len(t, log, 1)
}

func TestBrokenInvariantsPanicWithTheEvent(t *testing.T) {
	var k Engine
	id := k.Register(handlerFunc(func(k *Engine, _ uint16, _ uint32) error { return nil }))
	k.At(5, id, 0, 0)
	require.NoError(t, k.Run(context.Background()))
	assert.PanicsWithValue(t, "sim: event kind 7 for handler 0 at 4ps, before now 5ps", func() { k.At(4, id, 7, 0) })
	assert.PanicsWithValue(t, "sim: event for handler 3 of 1 at 5ps", func() { k.At(6, 3, 0, 0) })
	assert.PanicsWithValue(t, "sim: event for handler 3 of 1 at 5ps", func() { k.AtEnd(3, 0, 0) })
	assert.Panics(t, func() { k.After(-1, id, 0, 0) })

	k.At(6, k.Register(handlerFunc(func(k *Engine, _ uint16, _ uint32) error { k.Register(nil); return nil })), 0, 0)
	assert.PanicsWithValue(t, "sim: Register during Run", func() { _ = k.Run(context.Background()) })
}

func TestNoAllocationAnEvent(t *testing.T) {
	for _, zero := range []int{0, 4} {
		k := newHolder("tie", 1000, zero)
		require.NoError(t, advance(k, 20_000))
		allocs := testing.AllocsPerRun(5, func() { _ = advance(k, 100_000) })
		assert.LessOrEqual(t, allocs, 8.0, "allocations of 100,000 events: those of the error that ends them")
	}
}

func TestReserveKeepsWhatIsPending(t *testing.T) {
	var k Engine
	var log []string
	id := k.Register(logger(&log))
	k.At(1, id, 0, 0)
	k.Reserve(100)
	room := cap(k.queue.heap)
	for i := range 99 {
		k.At(Time(i+2), id, 0, 0)
	}
	assert.Equal(t, room, cap(k.queue.heap))
	require.NoError(t, k.Run(context.Background()))
	assert.Len(t, log, 100)
}
