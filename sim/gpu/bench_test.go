package gpu

import (
	"testing"
)

func BenchmarkTime(b *testing.B) {
	d := preset(b, "h100-sxm5-80gb")
	for name, k := range map[string]Kernel{
		"kind=gemm/k=8192":  {Kind: GEMM, M: 8192, N: 8192, K: 8192, In: BF16, Out: BF16},
		"kind=gemm/k=128":   {Kind: GEMM, Batch: 64, M: 2048, N: 2048, K: 128, In: BF16, Out: BF16},
		"kind=attention":    {Kind: Attention, Batch: 1, Heads: 32, KVHeads: 8, SeqQ: 8192, SeqK: 8192, HeadDim: 128, Causal: true, In: BF16},
		"kind=memory-bound": {Kind: Memory, Class: Norm, ReadBytes: 1 << 26, WriteBytes: 1 << 26},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d.Time(&k)
			}
		})
	}
}
