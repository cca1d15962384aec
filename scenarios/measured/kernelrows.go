package measured

import (
	"strings"

	"trainsim/sim"
	"trainsim/sim/gpu"
	"trainsim/sim/input"
)

// What the benchmarks behind the published tables launch in a row, which
// decides whether the power limit bites (see gpu.PowerCost). A column "repeats"
// says it for a table of one's own.
const (
	gemmRepeats      = 9   // aiconfigurator collector: 3 warm-ups and 6 timed graph replays
	attentionRepeats = 16  // aiconfigurator collector: 10 warm-ups and 6 timed graph replays
	simumaxRepeats   = 100 // SimuMax efficiency tests: 100 steps, the last 75 or 90 timed
)

// gemm reads a row with m, n and k and its time or its rate.
func (r *kernelRow) gemm(m *KernelTime) {
	m.Operation = "gemm"
	k := gpu.Kernel{Kind: gpu.GEMM, Batch: r.optional("batch", 1), M: r.count("m"), N: r.count("n"), K: r.count("k")}
	k.In = r.dtype("dtype", gpu.BF16)
	k.Out = r.dtype("out_dtype", k.In)
	k.Accumulate = r.flag("accumulate")
	if s := r.text("layout"); s != "" {
		if err := k.Layout.UnmarshalText([]byte(s)); err != nil {
			r.fail("layout: %w", err)
		}
	}
	m.Operation += " " + k.Layout.String()
	m.Kernels = []gpu.Kernel{k}
	m.Repeats = int(min(r.optional("repeats", gemmRepeats), 1<<30))
	if r.text("time_us") != "" {
		m.Seconds = r.number("time_us") * 1e-6
		return
	}
	m.Seconds = k.FLOPs() / (r.number("tflops") * 1e12)
}

// attention reads a row of a causal prefill: the operator rotates the queries
// and keys and writes the key/value cache before the fused kernel.
func (r *kernelRow) attention(m *KernelTime) {
	m.Operation = "attention forward"
	m.Prefill = true
	seq := r.count("seq")
	k := gpu.Kernel{
		Kind: gpu.Attention, Batch: r.count("batch"), Heads: r.count("heads"), SeqQ: seq, SeqK: seq,
		HeadDim: r.count("head_dim"), In: r.dtype("dtype", gpu.BF16), Causal: true,
	}
	k.KVHeads = r.optional("kv_heads", k.Heads)
	rows := float64(k.Batch) * float64(seq)
	bytes := rows * float64(k.Heads+2*k.KVHeads) * float64(k.HeadDim) * float64(k.In.Bytes())
	if bytes > maxSize {
		r.fail("its tensors are larger than any memory")
		return
	}
	rotate := gpu.Kernel{Kind: gpu.Memory, Class: gpu.Elementwise, ReadBytes: int64(bytes), WriteBytes: int64(bytes)}
	m.Kernels = []gpu.Kernel{rotate, k}
	m.Repeats = int(min(r.optional("repeats", attentionRepeats), 1<<30))
	m.Seconds = r.number("time_us") * 1e-6
}

// efficiency reads a row of SimuMax's tables: shape_key holds the shape as
// "b=1, m=4096, ...", and efficiency is the share of peak_tflops.
func (r *kernelRow) efficiency(m *KernelTime) {
	shape := r.shape()
	m.Operation = r.text("op")
	m.Repeats = simumaxRepeats
	var k gpu.Kernel
	flops := 1.0
	switch m.Operation {
	case "matmul":
		k = r.simumaxGEMM(shape)
		m.Operation = "gemm " + k.Layout.String()
	case "group_matmul":
		k = r.simumaxGrouped(shape)
		m.HostPerLaunch = groupedLaunch
		m.Operation = "grouped gemm " + k.Layout.String()
	case "sdp_fwd", "sdp_bwd":
		k, flops = r.simumaxAttention(shape, m.Operation == "sdp_bwd")
		m.Operation = map[bool]string{false: "attention training forward", true: "attention backward"}[k.Backward]
	default:
		r.fail("op is %s; write matmul, group_matmul, sdp_fwd or sdp_bwd", input.Quote(m.Operation))
		return
	}
	m.Kernels = []gpu.Kernel{k}
	m.Seconds = flops * k.FLOPs() / (r.number("peak_tflops") * 1e12 * r.number("efficiency"))
}

// groupedLaunch is what Transformer Engine's host spends on a product of a group
// in SimuMax's tables (frameworks/megatron-lm.toml has the same for a job).
const groupedLaunch = 8800 * sim.Nanosecond

// shape splits "b=1, m=4096" into its pairs.
func (r *kernelRow) shape() map[string]string {
	pairs := map[string]string{}
	for pair := range strings.SplitSeq(r.text("shape_key"), ",") {
		if key, value, ok := strings.Cut(pair, "="); ok {
			pairs[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return pairs
}

func (r *kernelRow) size(shape map[string]string, key string) int64 {
	return r.parseCount("shape_key's "+key, shape[key])
}

func (r *kernelRow) simumaxGEMM(shape map[string]string) gpu.Kernel {
	k := gpu.Kernel{
		Kind: gpu.GEMM, Batch: r.size(shape, "b"), M: r.size(shape, "m"), N: r.size(shape, "n"), K: r.size(shape, "k"),
		In: gpu.BF16, Out: r.format(shape["out_dtype"]), Accumulate: shape["accumulate"] == "True",
	}
	if err := k.Layout.UnmarshalText([]byte(shape["layout"])); err != nil {
		r.fail("shape_key's layout: %w", err)
	}
	return k
}

// simumaxGrouped reads the products of a mixture of experts, of which the key
// names the linear layer's sizes: M tokens, K inputs and N outputs an expert.
// Transformer Engine launches one product an expert.
func (r *kernelRow) simumaxGrouped(shape map[string]string) gpu.Kernel {
	tokens, n, in := r.size(shape, "M"), r.size(shape, "N"), r.size(shape, "K")
	k := gpu.Kernel{Kind: gpu.GEMM, Batch: r.size(shape, "ng"), Launches: r.size(shape, "ng"),
		In: r.format(shape["dtype"]), Accumulate: shape["accumulate"] == "True"}
	switch shape["stage"] {
	case "fwd":
		k.Layout, k.M, k.N, k.K, k.Out = gpu.TN, tokens, n, in, r.format(shape["out_dtype"])
	case "bwd_grad_act":
		k.Layout, k.M, k.N, k.K, k.Out = gpu.NN, tokens, in, n, r.format(shape["out_dtype"])
	case "bwd_grad_w":
		k.Layout, k.M, k.N, k.K, k.Out = gpu.NT, n, in, tokens, r.format(shape["main_grad_dtype"])
	default:
		r.fail("shape_key's stage is %s; write fwd, bwd_grad_act or bwd_grad_w", input.Quote(shape["stage"]))
	}
	return k
}

// simumaxAttention reads a causal attention; its efficiencies count the whole
// score matrix, twice what Kernel.FLOPs counts. Where queries and values have
// different head sizes the products cost the mean of the two.
func (r *kernelRow) simumaxAttention(shape map[string]string, backward bool) (gpu.Kernel, float64) {
	seq := r.size(shape, "seq_len")
	k := gpu.Kernel{
		Kind: gpu.Attention, Batch: r.size(shape, "batch"), Heads: r.size(shape, "head_num"),
		KVHeads: r.size(shape, "kv_head_num"),
		SeqQ:    seq, SeqK: seq, HeadDim: (r.size(shape, "qk_head_dim") + r.size(shape, "v_head_dim")) / 2,
		Causal: true, Backward: backward, In: gpu.BF16,
	}
	return k, 2
}

func (r *kernelRow) format(name string) gpu.Dtype {
	var d gpu.Dtype
	if err := d.UnmarshalText([]byte(name)); err != nil {
		r.fail("shape_key: %w", err)
	}
	return d
}
