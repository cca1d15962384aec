package gpu

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/sim"
)

// gpt22b is one tensor-parallel rank of a GPT-22B layer as Korthikanti et al.
// 2022 measured it (table 4): hidden 6144, 64 heads, sequence 2048, 4 sequences
// a micro-batch, tensor parallel over 8 A100, fp16, unfused attention, dropout.
const (
	layerTokens = 2048 * 4
	layerHidden = 6144
	layerTP     = 8
	layerHeads  = 64 / layerTP * 4 // heads times sequences of a rank
	layerScores = layerHeads * 2048 * 2048
	layerDim    = 6144 / 64
	layerWide   = layerTokens * layerHidden * 2 // bytes of one fp16 activation
)

func streaming(c Class, read, write int64) Kernel {
	return Kernel{Kind: Memory, Class: c, ReadBytes: read, WriteBytes: write}
}

func linear(m, n, k int64) Kernel {
	return Kernel{Kind: GEMM, Batch: 1, M: m, N: n, K: k, In: FP16, Out: FP16}
}

// layerForward are the forward kernels without the two all-reduces. tokens is
// how many tokens the norms and dropouts outside of tensor parallelism see.
func layerForward(share int64) []Kernel {
	wide := int64(layerWide) / share
	scores := int64(layerScores)
	return []Kernel{
		streaming(Norm, wide, wide),
		linear(layerTokens, 3*layerHidden/layerTP, layerHidden),
		streaming(Elementwise, 3*layerWide/layerTP, 3*layerWide/layerTP), // bias
		{Kind: GEMM, Batch: layerHeads, M: 2048, N: 2048, K: layerDim, In: FP16, Out: FP16},
		streaming(Softmax, 2*scores, 2*scores),
		streaming(Elementwise, 2*scores, 3*scores), // dropout and its mask
		{Kind: GEMM, Batch: layerHeads, M: 2048, N: layerDim, K: 2048, Layout: NN, In: FP16, Out: FP16},
		streaming(Copy, layerWide/layerTP, layerWide/layerTP), // heads back to rows
		linear(layerTokens, layerHidden, layerHidden/layerTP),
		streaming(Elementwise, 2*wide, wide+wide/2), // bias, dropout with its mask, residual
		streaming(Norm, wide, wide),
		linear(layerTokens, 4*layerHidden/layerTP, layerHidden),
		streaming(Elementwise, 4*layerWide/layerTP, 4*layerWide/layerTP), // bias and GELU
		linear(layerTokens, layerHidden, 4*layerHidden/layerTP),
		streaming(Elementwise, 2*wide, wide+wide/2),
	}
}

// gradients are the two products of a linear layer's backward pass.
func gradients(m, n, k int64) []Kernel {
	dx, dw := linear(m, k, n), linear(n, k, m)
	dx.Layout, dw.Layout, dw.Out, dw.Accumulate = NN, NT, FP32, true
	return []Kernel{dx, dw, streaming(Reduction, 2*m*n, 0)} // with the bias gradient
}

// layerBackward are the backward kernels. The layer norms' backward pass reads
// its operands twice, for the inputs and for the weights.
func layerBackward() []Kernel {
	scores := int64(layerScores)
	product := func(l Layout, m, n, k int64) Kernel {
		return Kernel{Kind: GEMM, Batch: layerHeads, M: m, N: n, K: k, Layout: l, In: FP16, Out: FP16}
	}
	var ks []Kernel
	add := func(more ...Kernel) { ks = append(ks, more...) }
	add(streaming(Elementwise, layerWide*3/2, layerWide)) // dropout
	add(gradients(layerTokens, layerHidden, 4*layerHidden/layerTP)...)
	add(streaming(Elementwise, 8*layerWide/layerTP, 4*layerWide/layerTP)) // GELU
	add(gradients(layerTokens, 4*layerHidden/layerTP, layerHidden)...)
	add(streaming(Norm, 4*layerWide, layerWide), streaming(Elementwise, 2*layerWide, layerWide)) // and the residual's sum
	add(streaming(Elementwise, layerWide*3/2, layerWide))
	add(gradients(layerTokens, layerHidden, layerHidden/layerTP)...)
	add(product(TN, 2048, 2048, layerDim), product(NT, 2048, layerDim, 2048)) // of the probabilities and the values
	add(streaming(Elementwise, 3*scores, 2*scores), streaming(Softmax, 4*scores, 2*scores))
	add(product(NN, 2048, layerDim, 2048), product(NT, 2048, layerDim, 2048)) // of the queries and the keys
	add(streaming(Copy, 3*layerWide/layerTP, 3*layerWide/layerTP))
	add(gradients(layerTokens, 3*layerHidden/layerTP, layerHidden)...)
	add(streaming(Norm, 4*layerWide, layerWide), streaming(Elementwise, 2*layerWide, layerWide))
	return ks
}

// allReduce is a 100 MB all-reduce over 8 A100 at the 230 GB/s of bus bandwidth
// that NCCL reaches through NVSwitch.
func allReduce() sim.Time { return sim.TransferTime(layerWide*2*7/8, 230e9) }

func total(d *Device, ks []Kernel) (t sim.Time) {
	for i := range ks {
		t += d.Time(&ks[i])
	}
	return t
}

// besideAllReduce is what the two weight gradients lose to the all-reduces that
// hide behind them: NCCL's 24 channels hold as many multiprocessors.
func besideAllReduce(d *Device) (t sim.Time) {
	for _, n := range []int64{4 * layerHidden / layerTP, 3 * layerHidden / layerTP} {
		dw := gradients(layerTokens, n, layerHidden)[1]
		alone, beside := d.Time(&dw).Seconds(), d.TimeBeside(&dw, Beside{SMs: 24}).Seconds()
		t += sim.FromSeconds(allReduce().Seconds() * (1 - alone/beside))
	}
	return t
}

// Measured: forward 7.7 ms, backward 11.9 ms; attention's core, which
// selective recomputation repeats, 1.3 ms.
func TestGPT22BLayer(t *testing.T) {
	d := preset(t, "a100-sxm4-80gb")
	forward := total(d, layerForward(1)) + 2*allReduce()
	assert.InEpsilon(t, 7.7e-3, forward.Seconds(), 0.05, "forward")
	backward := total(d, layerBackward()) + besideAllReduce(d)
	assert.InEpsilon(t, 11.9e-3, backward.Seconds(), 0.05, "backward")
	core := total(d, layerForward(1)[3:7])
	assert.InEpsilon(t, 1.3e-3, core.Seconds(), 0.05, "attention core")
	t.Log(forward, backward, core)
}
