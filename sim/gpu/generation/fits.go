package generation

// Fits are how NCCL's kernels perform on one class of hardware, beside NCCL's
// own estimates: NCCL picks algorithm and protocol by the estimate, and the
// call then takes the time that these figures give. Times are in microseconds,
// sizes in MiB; k is the number of ring steps (2(n-1) for an all-reduce, n-1
// for a half), S the message, V*S what crosses a ring edge, and bus the
// bandwidth of a ring edge as NCCL counts NVLinks.
//
// The figures are fitted to nccl-tests tables of NVSwitch machines with 2, 4
// and 8 GPUs (ai-dynamo/aiconfigurator, systems/data: A100 with NCCL 2.27.3,
// H100, H200, B200, B300, GB200 and GB300 with 2.29.2) and, from 64 MiB up, to
// the single-node tables of stas00/ml-engineering and NVIDIA/dgxc-benchmarking;
// NVLSTree, and what a tree takes beside NCCL's estimate, to the two-node
// tables of Dell (H200) and Google A4 (B200). Fitted on half of the rows they
// predict the other half within a median of 12 % for every device and operation.
type Fits struct {
	LL       LineFit   `toml:"ll"`
	LL128    LineFit   `toml:"ll128"`
	Simple   SliceFit  `toml:"simple"`
	NVLS     SwitchFit `toml:"nvls"`
	NVLSTree SwitchFit `toml:"nvls_tree"`
	Direct   DirectFit `toml:"direct"`
}

// LineFit is a ring under LL or LL128, which send lines of bytes:
// base + step*k + ramp*S/(S+8KiB) + V*S/(share*bus).
type LineFit struct {
	Base  float64 `toml:"base"`
	Step  float64 `toml:"step"`
	Ramp  float64 `toml:"ramp"`
	Share float64 `toml:"share"`
}

// SliceFit is a ring under Simple: base + step*k + V*S/(share*bus) +
// S/(n*copy) for what a rank copies within its own memory, plus what it costs
// to fill the pipeline: fill*S/(S+fill_at), in bytes at the ring's bandwidth.
type SliceFit struct {
	Base   float64 `toml:"base"`
	Step   float64 `toml:"step"`
	Share  float64 `toml:"share"`
	Copy   float64 `toml:"copy"` // GB/s; twice that in an all-reduce
	Fill   float64 `toml:"fill"` // MiB
	FillAt float64 `toml:"fill_at"`
}

// SwitchFit is NVLink SHARP: base*lat + S/(share*bw) + fill*S/(S+fill_at), on
// NCCL's latency and bandwidth.
type SwitchFit struct {
	Base   float64 `toml:"base"`
	Share  float64 `toml:"share"`
	Fill   float64 `toml:"fill"` // us
	FillAt float64 `toml:"fill_at"`
}

// DirectFit is point to point: base + step*(n-1) + ramp*S/(S+ramp_at) +
// V*S/(share*bus) + S/(n*copy) + fill.
type DirectFit struct {
	Base   float64 `toml:"base"`
	Step   float64 `toml:"step"`
	Share  float64 `toml:"share"`
	Copy   float64 `toml:"copy"` // GB/s
	Fill   float64 `toml:"fill"` // MiB
	FillAt float64 `toml:"fill_at"`
	Ramp   float64 `toml:"ramp"` // us
	RampAt float64 `toml:"ramp_at"`
}
