package plots

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/plots/chart"
	"trainsim/sim"
	"trainsim/sim/report"
)

// FuzzDrawSavedRun draws whatever can be read: no saved run makes a figure
// panic.
func FuzzDrawSavedRun(f *testing.F) {
	for _, y := range []synthetic{{pp: 1, m: 1, tp: 1, forward: 1}, {pp: 2, m: 3, tp: 2, forward: sim.Millisecond, links: 2}} {
		r, rep := y.build()
		var b bytes.Buffer
		require.NoError(f, (&report.Run{Report: rep, Recording: r}).Write(&b))
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		run, err := report.ReadRun(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, fig := range Registry(OfRun) {
			drawn, err := fig.Draw(&Data{Run: run}, chart.Options{Width: 320, Height: 320})
			if err == nil {
				record(drawn)
			}
		}
	})
}
