package snapshot

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCountsAreWorded(t *testing.T) {
	require.Equal(t, "1 entry", counted(1, "entry", "entries"))
	require.Equal(t, "0 entries", counted(0, "entry", "entries"))
	require.Equal(t, "12 entries", counted(12, "entry", "entries"))
}

// TestManyRecordingsAreOneTable: from nine on each is a line.
func TestManyRecordingsAreOneTable(t *testing.T) {
	list, err := ReadRecordings(strings.NewReader(`[{"ops":[["a",0,600,0]]}]`))
	require.NoError(t, err)
	out, err := list[0].Replay(t.Context(), Options{})
	require.NoError(t, err)
	c := Comparison{Recording: list[0], Replays: []*Replay{out, out}}
	for n, want := range map[int]string{
		1: "record 0: 1 entry, 1 allocation, 0 bytes allocated at the start",
		9: "record 0   1        1024 bytes -> 1024 bytes  2.00 MiB -> 2.00 MiB  100.0 % -> 100.0 %",
	} {
		var b strings.Builder
		many := make([]Comparison, n)
		for i := range many {
			many[i] = c
		}
		require.NoError(t, WriteText(&b, many))
		require.Contains(t, b.String(), want)
	}
}
