package gpu

import (
	"strings"

	"trainsim/sim"
)

// gemm reads a row with m, n and k and its time or its rate.
func (t *table) gemm(m *Measurement) {
	m.Operation = "gemm"
	k := Kernel{Kind: GEMM, Batch: t.optional("batch", 1), M: t.count("m"), N: t.count("n"), K: t.count("k")}
	k.In = t.dtype("dtype", BF16)
	k.Out = t.dtype("out_dtype", k.In)
	k.Accumulate = t.flag("accumulate")
	if s := t.text("layout"); s != "" {
		if err := k.Layout.UnmarshalText([]byte(s)); err != nil {
			t.fail("layout: %w", err)
		}
	}
	m.Operation += " " + k.Layout.String()
	m.Kernels = []Kernel{k}
	m.Repeats = int(min(t.optional("repeats", gemmRepeats), 1<<30))
	if t.text("time_us") != "" {
		m.Seconds = t.number("time_us") * 1e-6
		return
	}
	m.Seconds = k.FLOPs() / (t.number("tflops") * 1e12)
}

// attention reads a row of a causal prefill: the operator rotates the queries
// and keys and writes the key/value cache before the fused kernel.
func (t *table) attention(m *Measurement) {
	m.Operation = "attention forward"
	m.Prefill = true
	seq := t.count("seq")
	k := Kernel{
		Kind: Attention, Batch: t.count("batch"), Heads: t.count("heads"), SeqQ: seq, SeqK: seq,
		HeadDim: t.count("head_dim"), In: t.dtype("dtype", BF16), Causal: true,
	}
	k.KVHeads = t.optional("kv_heads", k.Heads)
	bytes := float64(k.Batch) * float64(seq) * float64(k.Heads+2*k.KVHeads) * float64(k.HeadDim) * float64(k.In.Bytes())
	if bytes > maxSize {
		t.fail("its tensors are larger than any memory")
		return
	}
	rotate := Kernel{Kind: Memory, Class: Elementwise, ReadBytes: int64(bytes), WriteBytes: int64(bytes)}
	m.Kernels = []Kernel{rotate, k}
	m.Repeats = int(min(t.optional("repeats", attentionRepeats), 1<<30))
	m.Seconds = t.number("time_us") * 1e-6
}

// efficiency reads a row of SimuMax's tables: shape_key holds the shape as
// "b=1, m=4096, ...", and efficiency is the share of peak_tflops.
func (t *table) efficiency(m *Measurement) {
	shape := t.shape()
	m.Operation = t.text("op")
	m.Repeats = simumaxRepeats
	var k Kernel
	flops := 1.0
	switch m.Operation {
	case "matmul":
		k = t.simumaxGEMM(shape)
		m.Operation = "gemm " + k.Layout.String()
	case "group_matmul":
		k = t.simumaxGrouped(shape)
		m.HostPerLaunch = groupedLaunch
		m.Operation = "grouped gemm " + k.Layout.String()
	case "sdp_fwd", "sdp_bwd":
		k, flops = t.simumaxAttention(shape, m.Operation == "sdp_bwd")
		m.Operation = map[bool]string{false: "attention training forward", true: "attention backward"}[k.Backward]
	default:
		t.fail("op is %q; write matmul, group_matmul, sdp_fwd or sdp_bwd", m.Operation)
		return
	}
	m.Kernels = []Kernel{k}
	m.Seconds = flops * k.FLOPs() / (t.number("peak_tflops") * 1e12 * t.number("efficiency"))
}

// shape splits "b=1, m=4096" into its pairs.
func (t *table) shape() map[string]string {
	pairs := map[string]string{}
	for pair := range strings.SplitSeq(t.text("shape_key"), ",") {
		if key, value, ok := strings.Cut(pair, "="); ok {
			pairs[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return pairs
}

func (t *table) size(shape map[string]string, key string) int64 {
	return t.parseCount("shape_key's "+key, shape[key])
}

func (t *table) simumaxGEMM(shape map[string]string) Kernel {
	k := Kernel{
		Kind: GEMM, Batch: t.size(shape, "b"), M: t.size(shape, "m"), N: t.size(shape, "n"), K: t.size(shape, "k"),
		In: BF16, Out: t.format(shape["out_dtype"]), Accumulate: shape["accumulate"] == "True",
	}
	if err := k.Layout.UnmarshalText([]byte(shape["layout"])); err != nil {
		t.fail("shape_key's layout: %w", err)
	}
	return k
}

// simumaxGrouped reads the products of a mixture of experts, of which the key
// names the linear layer's sizes: M tokens, K inputs and N outputs an expert.
// Transformer Engine launches one product an expert.
func (t *table) simumaxGrouped(shape map[string]string) Kernel {
	tokens, n, in := t.size(shape, "M"), t.size(shape, "N"), t.size(shape, "K")
	k := Kernel{Kind: GEMM, Batch: t.size(shape, "ng"), Launches: t.size(shape, "ng"), In: t.format(shape["dtype"]), Accumulate: shape["accumulate"] == "True"}
	switch shape["stage"] {
	case "fwd":
		k.Layout, k.M, k.N, k.K, k.Out = TN, tokens, n, in, t.format(shape["out_dtype"])
	case "bwd_grad_act":
		k.Layout, k.M, k.N, k.K, k.Out = NN, tokens, in, n, t.format(shape["out_dtype"])
	case "bwd_grad_w":
		k.Layout, k.M, k.N, k.K, k.Out = NT, n, in, tokens, t.format(shape["main_grad_dtype"])
	default:
		t.fail("shape_key's stage is %q; write fwd, bwd_grad_act or bwd_grad_w", shape["stage"])
	}
	return k
}

// groupedLaunch is what Transformer Engine's host spends on a product of a group
// in SimuMax's tables: whatever their size, the shortest take 8.6 to 9.2 us.
const groupedLaunch = 8800 * sim.Nanosecond

// simumaxAttention reads a causal attention; its efficiencies count the whole
// score matrix, twice what Kernel.FLOPs counts. Where queries and values have
// different head sizes the products cost the mean of the two.
func (t *table) simumaxAttention(shape map[string]string, backward bool) (Kernel, float64) {
	seq := t.size(shape, "seq_len")
	k := Kernel{
		Kind: Attention, Batch: t.size(shape, "batch"), Heads: t.size(shape, "head_num"), KVHeads: t.size(shape, "kv_head_num"),
		SeqQ: seq, SeqK: seq, HeadDim: (t.size(shape, "qk_head_dim") + t.size(shape, "v_head_dim")) / 2,
		Causal: true, Backward: backward, In: BF16,
	}
	return k, 2
}

func (t *table) format(name string) Dtype {
	var d Dtype
	if err := d.UnmarshalText([]byte(name)); err != nil {
		t.fail("shape_key: %w", err)
	}
	return d
}
