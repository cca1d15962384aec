package kinds

import (
	"context"
	"io"
	"testing"

	"trainsim/schedule"
)

// BenchmarkBuildCheck builds and checks an interleaved program of 524,288
// actions.
func BenchmarkBuildCheck(b *testing.B) {
	o := schedule.Options{Ranks: 64, Microbatches: 1024, VirtualStages: 4}
	b.ReportAllocs()
	for b.Loop() {
		p, err := Build(b.Context(), "interleaved", o)
		if err == nil {
			err = p.Check()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkExecute times the same program.
func BenchmarkExecute(b *testing.B) {
	p, err := Build(b.Context(), "interleaved", schedule.Options{Ranks: 64, Microbatches: 1024, VirtualStages: 4})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := p.Execute(context.Background(), schedule.UnitCosts()); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkBuild(b *testing.B, kind string, p, m int) {
	costs := schedule.Costs{StageCost: schedule.StageCost{Forward: 10, BackwardInput: 12, BackwardWeight: 8}, Latency: 3}
	for b.Loop() {
		if _, err := Build(b.Context(), kind, schedule.Options{Ranks: p, Microbatches: m, Costs: costs}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkZBAuto builds the greedy zero-bubble schedule.
func BenchmarkZBAuto(b *testing.B) { benchmarkBuild(b, "zb-auto", 32, 256) }

// BenchmarkZBVAuto builds the greedy V schedule.
func BenchmarkZBVAuto(b *testing.B) { benchmarkBuild(b, "zb-v-auto", 32, 256) }

// BenchmarkVHalf builds a schedule of controllable memory.
func BenchmarkVHalf(b *testing.B) { benchmarkBuild(b, "v-half", 32, 256) }

// BenchmarkVMin builds a schedule of controllable memory.
func BenchmarkVMin(b *testing.B) { benchmarkBuild(b, "v-min", 32, 256) }

// BenchmarkVAdaptive searches building blocks.
func BenchmarkVAdaptive(b *testing.B) { benchmarkBuild(b, "v-adaptive", 8, 32) }

// BenchmarkWriteCSV writes 524,288 actions.
func BenchmarkWriteCSV(b *testing.B) {
	p, err := Build(b.Context(), "interleaved", schedule.Options{Ranks: 64, Microbatches: 1024, VirtualStages: 4})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := p.WriteCSV(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
