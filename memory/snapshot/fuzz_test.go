package snapshot

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/memory"
)

// FuzzReadRecordings: any file is an error or recordings that replay under
// any settings without breaking the allocator.
func FuzzReadRecordings(f *testing.F) {
	files, err := filepath.Glob("testdata/snapshots/*")
	require.NoError(f, err)
	for _, name := range files {
		raw, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(raw)
	}
	for seed, conf := range recordedConfs {
		f.Add(pickled(f, recorded(f, uint64(seed), conf, 60)))
	}
	f.Add([]byte(`[{"total":1048576,"ops":[["a",0,1,0],["ap",1,5000000,1,2],["r",0,1],["f",0],["s",1],["rp",2],["e"],["fr",0.5],["c","expandable_segments:True"],["a",2,9000000,0]]}]`))
	expandable, err := memory.ParseConf("expandable_segments:True,max_split_size_mb:20")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, raw []byte) {
		list, err := ReadRecordings(bytes.NewReader(raw))
		if err != nil {
			return
		}
		for _, r := range list[:min(len(list), 3)] {
			for _, o := range []Options{{}, {Conf: &expandable}, {Capacity: 64 << 20, Fraction: 0.9}} {
				out, err := r.Replay(context.Background(), o)
				require.NoError(t, err)
				require.Zero(t, out.Stats.InvalidFrees)
				checkListing(t, out)
			}
		}
	})
}

// checkListing compares the final statistics with the listed blocks.
func checkListing(t *testing.T, out *Replay) {
	var allocated, reserved int64
	for _, s := range out.Final {
		reserved += s.Size
		for _, b := range s.Blocks {
			if b.State == memory.Allocated {
				allocated += b.Size
			}
		}
	}
	require.Equal(t, out.Stats.AllocatedBytes.All.Current, allocated)
	require.Equal(t, out.Stats.ReservedBytes.All.Current, reserved)
}
