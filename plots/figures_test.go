package plots

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/cmpimg"

	"trainsim/plots/chart"
	"trainsim/plots/gantt"
	"trainsim/sim"
	"trainsim/sim/report"
	"trainsim/sim/trace"
)

// small keeps the golden pictures small.
var small = chart.Options{Width: 960, Height: 540}

func examplePoints() []Point {
	rnd := sim.NewRand(1, "points")
	var out []Point
	for i := range 60 {
		m := 0.2 * float64(i+1)
		out = append(out, Point{m, m * (0.9 + 0.2*rnd.Float64()), []string{"Megatron-LM, A100", "FSDP, H100", "one GPU"}[i%3]})
	}
	return append(out, Point{0, 1, "not measured"})
}

func exampleCurves() []Curve {
	rnd := sim.NewRand(2, "curves")
	var out []Curve
	for k, name := range []string{"all-reduce, 8 x H100", "all-gather, 8 x H100"} {
		c, m := Curve{Name: name}, Curve{Name: name, Measured: true}
		for s := 1024.0; s <= 1<<33; s *= 2 {
			c.Size = append(c.Size, s)
			c.BusBW = append(c.BusBW, 450e9/(1+float64(k+1)*20e6/s))
			m.Size = append(m.Size, s)
			m.BusBW = append(m.BusBW, c.BusBW[len(c.BusBW)-1]*(0.9+0.1*rnd.Float64()))
		}
		out = append(out, c, m)
	}
	return out
}

func exampleSweep() []SweepPoint {
	var out []SweepPoint
	for i, x := range []string{"4", "8", "16", "32", "64"} {
		for j, s := range []string{"parallel.pp=2", "parallel.pp=4"} {
			b := float64(2*j+1) / float64(2*j+1+4<<i)
			gib := 60 + 10*i - 20*j
			out = append(out, SweepPoint{X: x, Series: s, StepTime: 4 / (1 - b), Bubble: b, PeakMemory: float64(int64(gib) << 30), Fits: gib <= 80})
		}
	}
	return out
}

func exampleCases() []report.Case {
	var out []report.Case
	for i, name := range []string{"13b-tp2-pp4-nvlink", "13b-tp2-pp4-pcie", "a-scenario-with-a-rather-long-name"} {
		r, rep := synthetic{pp: 2 + 2*i, m: 8, tp: 1, forward: sim.Time(20+10*i) * sim.Millisecond}.build()
		out = append(out, report.Case{Name: name, Run: *runOf(r, rep)})
	}
	return append(out, report.Case{Name: "not run"})
}

func exampleSchedule(chunks int) ScheduleChart {
	y := synthetic{pp: 8, m: 16, tp: 1, forward: sim.Second}
	r, _ := y.build()
	s := ScheduleChart{Name: "1f1b, 8 stages, 16 micro-batches", Subtitle: "bubble 30.4 % of the makespan", Unit: "forwards of one stage"}
	rank := map[int32]int{}
	for i, l := range r.Lanes {
		if l.Stream == trace.Actions {
			rank[int32(i)] = l.Stage
		}
	}
	for span := range r.Spans {
		if at, ok := rank[span.Lane]; ok {
			mb := int(span.Microbatch)
			s.Tasks = append(s.Tasks, Task{at, span.Start.Seconds(), span.End.Seconds(), span.Kind, mb, max(mb, 0) / 4 % chunks})
		}
	}
	return s
}

// outOfMemory is a run that does not fit.
func outOfMemory() (*trace.Recording, *report.Report) {
	r, rep := synthetic{pp: 4, m: 8, tp: 1, forward: 30 * sim.Millisecond}.build()
	for i := range rep.MemoryPerStage {
		m := &rep.MemoryPerStage[i]
		m.Capacity = 48 << 30
		m.Fits = m.NvidiaSMI <= m.Capacity
	}
	rep.OOM = &report.OOM{Rank: 0, At: 0.09, Needed: 61 << 30}
	return r, rep
}

// exampleData has one document of each kind.
func exampleData() *Data {
	return &Data{
		Run:      runOf(synthetic{pp: 4, m: 8, tp: 4, forward: 30 * sim.Millisecond, links: 20}.build()),
		Cases:    exampleCases(),
		Sweep:    SweepChart{Axis: "schedule.microbatches", Points: exampleSweep(), Capacity: 80 << 30},
		Plan:     examplePlan(64),
		Score:    ScoreChart{examplePoints(), "step time (s)"},
		Schedule: exampleSchedule(2),
		Curves:   exampleCurves(),
		Topology: pairsChart(),
	}
}

// everyFigure draws the whole registry, and what looks different of other data.
func everyFigure(t testing.TB, o chart.Options) map[string]*chart.Figure {
	t.Helper()
	out := map[string]*chart.Figure{}
	add := func(name string, f *chart.Figure, err error) {
		require.NoError(t, err, name)
		assert.NotContains(t, out, name)
		out[name] = f
	}
	data := exampleData()
	for _, e := range Registry() {
		f, err := e.Draw(data, o)
		add(e.Name, f, err)
	}
	few, fewRep := synthetic{pp: 2, m: 6, tp: 4, forward: 30 * sim.Millisecond}.build()
	fewRep.Links = []report.Link{{Name: "node0/gpu0/nvlink/out", Utilisation: 0.31, Bytes: 90e9}, {Name: "node0/nic0/tx", Utilisation: 0.12, Bytes: 4e9}}
	f, err := pipeline(runOf(few, fewRep), o)
	add("pipeline-few", f, err)
	f, err = links(runOf(few, fewRep), o)
	add("links-mean", f, err)
	full := runOf(outOfMemory())
	f, err = memory(full, o)
	add("memory-oom", f, err)
	f, err = memoryStages(full, o)
	add("memory-stages-oom", f, err)
	f, err = plan(examplePlan(16, 32, 64), o)
	add("plan-sizes", f, err)
	return out
}

// Each entry of the registry is told apart and says what it is for.
func TestRegistry(t *testing.T) {
	for _, e := range Registry() {
		assert.Regexp(t, "^[a-z-]+$", e.Name)
		assert.Regexp(t, "^[A-Z][^.]+$", e.Caption)
		_, err := e.Draw(&Data{Run: runOf(nil, nil), Plan: &report.Plan{}}, small)
		assert.ErrorAs(t, err, new(chart.Empty), e.Name)
	}
	for _, e := range Registry(OfSweep, OfPlan) {
		assert.Contains(t, []Document{OfSweep, OfPlan}, e.Of)
	}
}

// The pictures, decoded and compared with a tolerance for another rasteriser.
// PLOTS_DIR keeps what was drawn, at full size, to be looked at.
func TestPictures(t *testing.T) {
	if dir := os.Getenv("PLOTS_DIR"); dir != "" {
		for name, f := range everyFigure(t, chart.Options{}) {
			require.NoError(t, f.Save(filepath.Join(dir, name+".png")))
		}
	}
	figures := everyFigure(t, small)
	for _, name := range []string{"pipeline", "memory-oom", "memory-stages", "breakdown", "links", "compare"} {
		var got bytes.Buffer
		require.NoError(t, figures[name].Encode(&got, "png"))
		path := filepath.Join("testdata", name+".png")
		if *update {
			require.NoError(t, os.WriteFile(path, got.Bytes(), 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		same, err := cmpimg.EqualApprox("png", got.Bytes(), want, 0.1)
		require.NoError(t, err)
		if !same {
			bad := filepath.Join(os.TempDir(), "trainsim-"+name+".png")
			assert.NoError(t, os.WriteFile(bad, got.Bytes(), 0o644))
			t.Errorf("%s differs from %s; it was written to %s", name, path, bad)
		}
	}
}

func TestSameBytesTwice(t *testing.T) {
	for _, format := range chart.Formats {
		first, second := everyFigure(t, small), everyFigure(t, small)
		for name, f := range first {
			if format != "png" && name != "pipeline" && name != "score" {
				continue
			}
			var a, b bytes.Buffer
			require.NoError(t, f.Encode(&a, format))
			require.NoError(t, second[name].Encode(&b, format))
			assert.True(t, bytes.Equal(a.Bytes(), b.Bytes()), "%s as %s", name, format)
		}
	}
}

func TestWriteRun(t *testing.T) {
	r, rep := synthetic{pp: 4, m: 8, tp: 4, forward: 30 * sim.Millisecond, links: 20}.build()
	dir := filepath.Join(t.TempDir(), "new", "figures")
	paths, err := WriteRun(dir, runOf(r, rep), chart.Options{Width: 640, Height: 360, Format: "svg"})
	require.NoError(t, err)
	var want []string
	for _, f := range Registry(OfRun) {
		want = append(want, filepath.Join(dir, f.Name+".svg"))
	}
	assert.Equal(t, want, paths)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, len(want), "no temporary file is left")
}

// A run without data for a figure leaves it out.
func TestWriteRunOfLittle(t *testing.T) {
	paths, err := WriteRun(t.TempDir(), runOf(nil, nil), small)
	require.NoError(t, err)
	assert.Empty(t, paths)
	_, rep := synthetic{pp: 2, m: 2, tp: 1, forward: sim.Second}.build()
	paths, err = WriteRun(t.TempDir(), runOf(&trace.Recording{}, rep), small)
	require.NoError(t, err)
	assert.Len(t, paths, 2)
}

func TestEmptyFiguresAreErrors(t *testing.T) {
	empty := &trace.Recording{}
	_, err := pipeline(runOf(empty, nil), small)
	assert.ErrorIs(t, err, gantt.ErrNoActions)
	_, err = memory(runOf(empty, nil), small)
	assert.ErrorIs(t, err, errNoMemory)
	_, err = memoryStages(runOf(nil, &report.Report{}), small)
	assert.ErrorIs(t, err, errNoStages)
	_, err = breakdown(runOf(nil, nil), small)
	assert.ErrorIs(t, err, errNoTimes)
	_, err = links(runOf(empty, &report.Report{}), small)
	assert.ErrorIs(t, err, errNoLinks)
	_, err = Scatter(ScoreChart{Points: []Point{{0, 1, ""}}}, small)
	assert.ErrorIs(t, err, errNoPoints)
	_, err = BusBW([]Curve{{Size: []float64{1}}}, small)
	assert.ErrorIs(t, err, errNoCurves)
	_, err = drawSweep(SweepChart{Axis: "x"}, small)
	assert.ErrorIs(t, err, errNoSweep)
	_, err = compare([]report.Case{{}}, small)
	assert.ErrorIs(t, err, errNoCases)
	_, err = Schedule(ScheduleChart{}, small)
	assert.ErrorIs(t, err, errNoTasks)
	_, err = Schedule(ScheduleChart{Tasks: []Task{{Rank: 256}}}, small)
	assert.ErrorContains(t, err, "ranks 0 to 255")
	_, err = Schedule(ScheduleChart{Tasks: []Task{{Start: 2, End: 1}}}, small)
	assert.ErrorContains(t, err, "from 2 to 1")
}
