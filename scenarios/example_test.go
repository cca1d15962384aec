package scenarios_test

import (
	"fmt"
	"strings"

	"trainsim/scenarios"
)

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
	_, err := scenarios.LoadReader(strings.NewReader(file), "job.toml", []string{"model.heads=24", "model.ffn=12000", "model.kv_heads=24", "model.head_dim=128"})
	fmt.Println(err)
	// Output:
	// job.toml:7:6: parallel.tp: tp 3 * pp 1 * cp 1 does not divide the 8 GPUs of 1 nodes; write degrees whose product divides 8, or other nodes
	//     tp = 3
	//          ^
}

func ExampleExplain() {
	keys, err := scenarios.Explain("schedule.microbatches")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(keys[0].Path, keys[0].Unit, keys[0].DefaultText())
	// Output: schedule.microbatches micro-batches 1
}
