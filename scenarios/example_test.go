package scenarios_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"trainsim/plots"
	"trainsim/plots/chart"
	"trainsim/scenarios"
	"trainsim/sim/report"
	"trainsim/sim/step"
)

// A scenario is loaded and simulated, its report is read, and its figures are
// drawn.
func Example() {
	cfg, err := scenarios.LoadWith("pp4-1f1b-8", []string{"schedule.microbatches=16"})
	if err != nil {
		panic(err)
	}
	res, err := step.Run(context.Background(), cfg, step.Options{})
	if err != nil {
		panic(err)
	}
	run := report.NewRun(context.Background(), res, scenarios.Resolved(cfg))
	r := run.Report
	fmt.Printf("%s: a step of %.2f s, %.0f %% bubble, fits: %t\n", r.Name(), r.StepTime, 100*r.Bubble.OverTotal,
		r.OOM == nil)
	dir, err := os.MkdirTemp("", "figures")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	figures, err := plots.WriteRun(dir, run, chart.Options{Format: "svg"})
	fmt.Println(filepath.Base(figures[0]), err)
	// Output:
	// pp4-1f1b-8: a step of 2.52 s, 17 % bubble, fits: true
	// pipeline.svg <nil>
}

func ExampleLoad() {
	cfg, err := scenarios.Load("70b-tp4-pp2")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cfg.Model.Name, cfg.GPU.Name, cfg.Parallel.World(), "ranks")
	// Output: llama-2-70b h100-sxm5-80gb 64 ranks
}

func ExampleLoadReader() {
	file := `
[model]
preset = "llama-2-7b"
[cluster]
preset = "dgx-h100"
[parallel]
tp = 3
`
	_, err := scenarios.LoadReader(strings.NewReader(file), "job.toml",
		[]string{"model.heads=24", "model.ffn=12000", "model.kv_heads=24", "model.head_dim=128"})
	fmt.Println(err)
	// Output:
	// job.toml:7:6: parallel.tp: tp 3 * pp 1 * cp 1 does not divide the 8 GPUs of 1 nodes; write degrees whose product divides 8, or other nodes
	//     tp = 3
	//          ^
}
