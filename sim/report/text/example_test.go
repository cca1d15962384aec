package text_test

import (
	"os"

	"trainsim/sim/report"
	"trainsim/sim/report/text"
)

// The report of a run renders as text for people and as JSON for programs.
func ExampleReport() {
	r := &report.Report{
		StepTime: 0.5, SamplesPerS: 16, TokensPerS: 32768, TokensPerSPerGPU: 32768, ModelTFLOPS: 300, MFU: 0.3, HardwareTFLOPS: 300, HFU: 0.3,
		TimePerStage: []report.StageTime{{Compute: 0.4, Optimizer: 0.1, Step: 0.5}},
		MemoryPerStage: []report.StageMemory{{PeakAllocated: 30 << 30, PeakReserved: 31 << 30, NvidiaSMI: 32 << 30, Capacity: 80 << 30, Fits: true,
			AtPeak: report.AtPeak{Weights: 30 << 30}}},
	}
	if err := text.Report(os.Stdout, r, text.Options{Title: "tiny", Headline: "1 GPU"}); err != nil {
		panic(err)
	}
	// Output:
	// tiny  1 GPU
	//
	// Step        500.000 ms for 8 samples, 16384 tokens
	// A sample    62.500 ms   a token 30.518 us   (compare layouts at equal global batch only)
	// Throughput  32768.0 tokens/s, 32768.0 tokens/s/GPU, 16.000 samples/s
	// Compute     300.0 model TFLOP/s/GPU (MFU 30.0 %), 300.0 hardware TFLOP/s/GPU (HFU 30.0 %)
	// Bubble      0.0 % of the step, 0.0 % of the step without it (mean over stages, 0 s)
	//
	// Time of each stage, ms (communication: exposed only; a row adds up to the step)
	//   stage  compute  optimizer    step
	//       0   400.00     100.00  500.00
	//
	// Peak memory of each stage's fullest rank, GiB
	//   stage  weights  gradients  optimizer  activations  temporary  comm  context  allocated  reserved  nvidia-smi  capacity  fits
	//       0    30.00       0.00       0.00         0.00       0.00  0.00     0.00      30.00     31.00       32.00     80.00   yes
	//
	// Fits in memory.
	//
	// Assumptions
}
