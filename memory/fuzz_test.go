package memory

import (
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
			require.NotEmpty(t, err.Error())
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
