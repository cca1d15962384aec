package memory

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzParseConf: any text gives settings that place blocks, or an error that
// says where and what; settings survive being written and read again.
func FuzzParseConf(f *testing.F) {
	for _, text := range workloadConfs {
		f.Add(text)
	}
	for _, c := range confErrors {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseConf(text)
		if err != nil {
			var e *ConfError
			require.ErrorAs(t, err, &e)
			require.NotEmpty(t, e.Problem)
			require.True(t, e.Offset >= 0 && e.Offset <= len(text))
			return
		}
		again, err := ParseConf(c.String())
		require.NoError(t, err)
		require.Equal(t, c, again)
		for _, n := range []int64{1, 511, 4097, 3 << 20, 5<<30 + 1, maxRequest - 1} {
			require.GreaterOrEqual(t, c.round(n), n)
			require.Zero(t, c.round(n)%minBlock)
		}
	})
}

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
	for seed, conf := range workloadConfs {
		f.Add(pickled(f, recorded(f, uint64(seed), conf, 60)))
	}
	f.Add([]byte(`[{"total":1048576,"ops":[["a",0,1,0],["ap",1,5000000,1,2],["r",0,1],["f",0],["s",1],["rp",2],["e"],["fr",0.5],["c","expandable_segments:True"],["a",2,9000000,0]]}]`))
	expandable, err := ParseConf("expandable_segments:True,max_split_size_mb:20")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, raw []byte) {
		list, err := ReadRecordings(bytes.NewReader(raw))
		if err != nil {
			return
		}
		for _, r := range list[:min(len(list), 3)] {
			for _, o := range []ReplayOptions{{}, {Conf: &expandable}, {Capacity: 64 << 20, Fraction: 0.9}} {
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
			if b.State == Allocated {
				allocated += b.Size
			}
		}
	}
	require.Equal(t, out.Stats.AllocatedBytes.All.Current, allocated)
	require.Equal(t, out.Stats.ReservedBytes.All.Current, reserved)
}

// FuzzAllocator runs the bytes as operations and checks the conservation laws
// at the end.
func FuzzAllocator(f *testing.F) {
	f.Add(uint8(0), []byte{0, 10, 0, 200, 64, 0, 128, 192, 255})
	f.Add(uint8(1), []byte("allocations and frees of all kinds, in any order"))
	f.Fuzz(func(t *testing.T, conf uint8, program []byte) {
		w := newWorkload(t, uint64(conf), workloadConfs[int(conf)%len(workloadConfs)], false)
		w.private = conf%2 == 0
		for _, x := range program[:min(len(program), 500)] {
			runByte(w, x)
		}
		checkInvariants(t, w.a, w.live)
		checkDrained(t, w)
	})
}

// runByte executes the operation that a byte encodes: two bits of code, six
// of size or place.
func runByte(w *workload, x byte) {
	n := int(x & 63)
	switch x >> 6 {
	case 0:
		if ref, err := w.a.Malloc(int64(n*n*n+1)*1000, n%3, Activations); err == nil {
			w.live = append(w.live, ref)
		}
	case 1:
		if len(w.live) > 0 {
			i := n % len(w.live)
			w.a.Free(w.live[i])
			w.live = append(w.live[:i], w.live[i+1:]...)
		}
	case 2:
		if len(w.live) > 0 {
			w.a.RecordStream(w.live[n%len(w.live)], n%3)
		}
	case 3:
		w.step()
	}
}
