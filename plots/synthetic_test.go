package plots

import (
	"fmt"

	"trainsim/sim"
	"trainsim/sim/report"
	"trainsim/sim/trace"
)

// synthetic is a 1F1B step whose times follow from its fields: a backward takes
// twice a forward, messages are free, and each stage has one rank of tp.
type synthetic struct {
	pp, m, tp int
	forward   sim.Time
	links     int
}

// runOf is a run of a recording and a report.
func runOf(r *trace.Recording, rep *report.Report) *report.Run {
	return &report.Run{Report: rep, Recording: r}
}

type op struct {
	kind trace.Kind
	mb   int
}

// order is the 1F1B order of stage s.
func (y synthetic) order(s int) []op {
	var out []op
	warm := min(y.pp-s-1, y.m)
	for i := range warm {
		out = append(out, op{trace.Forward, i})
	}
	for i := range y.m - warm {
		out = append(out, op{trace.Forward, warm + i}, op{trace.Backward, i})
	}
	for i := y.m - warm; i < y.m; i++ {
		out = append(out, op{trace.Backward, i})
	}
	return out
}

// build simulates the orders by repeatedly running what is ready.
func (y synthetic) build() (*trace.Recording, *report.Report) {
	r := twoSegments()
	fEnd, bEnd := grid(y.pp, y.m), grid(y.pp, y.m)
	free := make([]sim.Time, y.pp)
	next := make([]int, y.pp)
	lanes := make([]int32, y.pp)
	mem := make([][]int32, y.pp)
	for s := range y.pp {
		lanes[s] = r.AddLane(trace.Lane{Rank: s * y.tp, Stage: s, Stream: trace.Actions})
		for k := range 4 {
			name := []string{"weights", "gradients", "optimizer", "activations"}[k]
			mem[s] = append(mem[s], r.AddCounter(trace.Counter{Kind: trace.MemoryByKind, Name: name, Rank: s * y.tp, Stage: s, Limit: 80 << 30}))
		}
		mem[s] = append(mem[s], r.AddCounter(trace.Counter{Kind: trace.MemoryReserved, Name: "reserved", Rank: s * y.tp, Stage: s, Limit: 80 << 30}))
		mem[s] = append(mem[s], r.AddCounter(trace.Counter{Kind: trace.MemoryByKind, Name: "context", Rank: s * y.tp, Stage: s, Limit: 80 << 30}))
	}
	const gib = 1 << 30
	for s := range y.pp {
		for k, v := range []int64{9 * gib, 9 * gib, 18 * gib, 0, 40 * gib, gib} {
			r.Set(0, mem[s][k], v)
		}
	}
	live, most := make([]int64, y.pp), make([]int64, y.pp)
	for done := 0; done < 2*y.pp*y.m; {
		for s := range y.pp {
			ops := y.order(s)
			for next[s] < len(ops) {
				o := ops[next[s]]
				ready := sim.Time(0)
				switch {
				case o.kind == trace.Forward && s > 0:
					ready = fEnd[s-1][o.mb]
				case o.kind == trace.Backward && s < y.pp-1:
					ready = bEnd[s+1][o.mb]
				case o.kind == trace.Backward:
					ready = fEnd[s][o.mb]
				}
				if ready == 0 && !(o.kind == trace.Forward && s == 0) {
					break
				}
				start := max(ready, free[s])
				end := start + y.forward
				if o.kind == trace.Backward {
					end += y.forward
					bEnd[s][o.mb] = end
				} else {
					fEnd[s][o.mb] = end
				}
				free[s] = end
				next[s]++
				done++
				r.Add(trace.Span{Start: start, End: end, Lane: lanes[s], Kind: o.kind, Microbatch: int32(o.mb), Name: r.Name(fmt.Sprint(o.kind, o.mb))})
				if o.kind == trace.Forward {
					live[s] += 5 * gib
					r.Set(start, mem[s][3], live[s])
					most[s] = max(most[s], live[s])
					r.Set(start, mem[s][4], 39*gib+most[s])
				} else {
					live[s] -= 5 * gib
					r.Set(end, mem[s][3], live[s])
				}
			}
		}
	}
	end := y.tail(r, lanes, free)
	y.loads(r, end)
	return r, y.report(end)
}

// tail adds the gradient all-reduce on the data-parallel stream and the
// optimizer, and returns the makespan.
func (y synthetic) tail(r *trace.Recording, lanes []int32, free []sim.Time) sim.Time {
	last := free[0]
	for s := range y.pp {
		dp := r.AddLane(trace.Lane{Rank: s * y.tp, Stage: s, Stream: trace.DP.Stream()})
		at := free[s] - y.forward
		r.Add(trace.Span{Start: at, End: at + 3*y.forward/2, Lane: dp, Kind: trace.DP.Kind(), Microbatch: -1})
		r.Add(trace.Span{Start: last + y.forward/2, End: last + y.forward, Lane: lanes[s], Kind: trace.Optimizer, Microbatch: -1})
	}
	return last + y.forward
}

func (y synthetic) loads(r *trace.Recording, end sim.Time) {
	for i := range y.links {
		c := r.AddCounter(trace.Counter{Kind: trace.LinkRate, Name: fmt.Sprintf("node%d/gpu%d->nic%d", i/8, i%8, i%8), Rank: -1, Limit: 50e9})
		if i%3 == 0 {
			r.Counters[c].Name = fmt.Sprintf("node%d/nvswitch->gpu%d", i/8, i%8)
			r.Counters[c].Limit = 450e9
		}
		for at := sim.Time(i+1) * y.forward / 4; at < end; at += y.forward {
			r.Set(at, c, int64(r.Counters[c].Limit)*int64(i+1)/int64(y.links+1))
			r.Set(at+y.forward/3, c, 0)
		}
	}
}

func (y synthetic) report(end sim.Time) *report.Report {
	const gib = 1 << 30
	step := end.Seconds()
	rep := &report.Report{
		Schema: report.Schema, StepTime: step, MFU: 0.431,
		Scenario: map[string]any{"name": "synthetic-1f1b"},
		Bubble:   report.Bubble{OverTotal: float64(y.pp-1) / float64(y.m+y.pp-1)},
	}
	work := 3 * float64(y.m) * y.forward.Seconds()
	for s := range y.pp {
		t := report.StageTime{Stage: s, Compute: 0.8 * work, Recompute: 0.05 * work, Host: 0.02 * work,
			Comm:      [trace.NumDimensions]float64{trace.TP: 0.1 * work, trace.PP: 0.02 * work, trace.CP: 0.01 * work, trace.DP: 0.5 * y.forward.Seconds()},
			Optimizer: 0.5 * y.forward.Seconds(), Step: step}
		t.Bubble = step - work - y.forward.Seconds()
		rep.TimePerStage = append(rep.TimePerStage, t)
		live := int64(min(y.pp-s, y.m)) * 5 * gib
		m := report.StageMemory{Stage: s, Rank: s * y.tp, PeakAllocated: 36*gib + live, PeakReserved: 39*gib + live, NvidiaSMI: 41*gib + live, Capacity: 80 * gib}
		m.AtPeak = report.AtPeak{Weights: 9 * gib, Gradients: 9 * gib, Optimizer: 18 * gib, Activations: live, Temporaries: gib, CommBuffers: gib, Context: gib}
		m.Fits = m.NvidiaSMI <= m.Capacity
		rep.MemoryPerStage = append(rep.MemoryPerStage, m)
	}
	return rep
}

func grid(n, m int) [][]sim.Time {
	out := make([][]sim.Time, n)
	for i := range out {
		out[i] = make([]sim.Time, m)
	}
	return out
}
