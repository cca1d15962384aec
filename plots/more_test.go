package plots

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/sim"
	"trainsim/sim/report"
)

func TestDrawMore(t *testing.T) {
	dir := os.Getenv("PLOTS_DIR")
	if dir == "" {
		dir = t.TempDir()
	}
	rnd := sim.NewRand(1, "points")
	var pts []Point
	for i := range 60 {
		m := 0.2 * float64(i+1)
		pts = append(pts, Point{m, m * (0.9 + 0.2*rnd.Float64()), []string{"Megatron-LM, A100", "FSDP, H100", "single GPU"}[i%3]})
	}
	f, err := Scatter(pts, "step time (s)", Options{})
	require.NoError(t, err)
	require.NoError(t, f.Save(filepath.Join(dir, "scatter.png")))

	var curves []Curve
	for k, name := range []string{"all-reduce, 8 x H100", "all-gather, 8 x H100"} {
		c := Curve{Name: name}
		for s := 1024.0; s <= 1<<33; s *= 2 {
			c.Size = append(c.Size, s)
			c.BusBW = append(c.BusBW, 450e9/(1+float64(k+1)*20e6/s))
		}
		m := Curve{Name: name, Size: c.Size, Measured: true}
		for _, v := range c.BusBW {
			m.BusBW = append(m.BusBW, v*(0.9+0.1*rnd.Float64()))
		}
		curves = append(curves, c, m)
	}
	f, err = BusBW(curves, Options{})
	require.NoError(t, err)
	require.NoError(t, f.Save(filepath.Join(dir, "busbw.png")))

	var sp []SweepPoint
	for i, x := range []string{"4", "8", "16", "32", "64"} {
		for j, s := range []string{"parallel.pp=2", "parallel.pp=4"} {
			b := float64(2*j+1) / float64(2*j+1+4<<i)
			sp = append(sp, SweepPoint{X: x, Series: s, StepTime: 4 / (1 - b), Bubble: b, PeakMemory: float64(int64(60+10*i-20*j) << 30), Fits: 60+10*i-20*j <= 80})
		}
	}
	f, err = Sweep("schedule.microbatches", sp, 80<<30, Options{})
	require.NoError(t, err)
	require.NoError(t, f.Save(filepath.Join(dir, "sweep.png")))

	var cases []Case
	for i, n := range []string{"13b-tp2-pp4-nvlink", "13b-tp2-pp4-pcie", "70b-tp4-pp2-recompute-full"} {
		_, rep := synthetic{pp: 2 + 2*i, m: 8, tp: 1, forward: sim.Time(20+10*i) * sim.Millisecond}.build()
		cases = append(cases, Case{n, rep})
	}
	f, err = Compare(cases, Options{})
	require.NoError(t, err)
	require.NoError(t, f.Save(filepath.Join(dir, "compare.png")))

	y := synthetic{pp: 8, m: 16, tp: 1, forward: sim.Second}
	r, _ := y.build()
	g, err := pipelineGantt(r)
	require.NoError(t, err)
	s := ScheduleChart{Name: "1f1b, 8 stages, 16 micro-batches", Subtitle: "bubble 30.4 % of the makespan", Unit: "forwards of one stage"}
	for i, row := range g.rows {
		for _, b := range row.boxes {
			if !row.thin {
				s.Tasks = append(s.Tasks, Task{i / 2, b.start, b.end, b.kind, b.number, b.number / 4 % 2})
			}
		}
	}
	f, err = Schedule(s, Options{})
	require.NoError(t, err)
	require.NoError(t, f.Save(filepath.Join(dir, "schedule.png")))
	for _, e := range []string{"pdf", "svg"} {
		require.NoError(t, f.Save(filepath.Join(dir, "schedule."+e)))
	}
}

var _ = report.Schema
