package plots

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/sim"
)

func TestWriteAll(t *testing.T) {
	r, rep := synthetic{pp: 4, m: 8, tp: 4, forward: 30 * sim.Millisecond, links: 20}.build()
	dir := os.Getenv("PLOTS_DIR")
	if dir == "" {
		dir = t.TempDir()
	}
	paths, err := WriteAll(dir, r, rep, Options{})
	require.NoError(t, err)
	require.Len(t, paths, 5)
}
