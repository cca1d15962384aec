package measured

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/scenarios"
	"trainsim/sim/gpu"
)

// readKernels reads a table given as text.
func readKernels(t *testing.T, text string) []KernelTime {
	t.Helper()
	ms, err := ReadKernels([]byte(text), "t.csv")
	require.NoError(t, err)
	return ms
}

func TestTablesAreKnownByTheirHeaders(t *testing.T) {
	for _, c := range []struct {
		name, text, operation string
		kernels               []gpu.Kernel
		repeats               int
		seconds               float64
	}{
		{
			"gemm by time", "gpu_type,dtype,m,n,k,time_us\nH200,bf16,512,1024,2048,7.5\n", "gemm TN",
			[]gpu.Kernel{{Kind: gpu.GEMM, Batch: 1, M: 512, N: 1024, K: 2048, In: gpu.BF16, Out: gpu.BF16}}, 9, 7.5e-6,
		},
		{
			"gemm by rate, columns in any order", "n,k,m,tflops,dtype,gpu_type\n1000,1000,1000,2,fp16,A100\n", "gemm TN",
			[]gpu.Kernel{{Kind: gpu.GEMM, Batch: 1, M: 1000, N: 1000, K: 1000, In: gpu.FP16, Out: gpu.FP16}}, 9, 1e-3,
		},
		{
			"gemm with everything", "gpu_type,dtype,m,n,k,time_us,batch,layout,out_dtype,accumulate,repeats\nA100,bf16,8,8,8,1,4,NT,fp32,true,50\n", "gemm NT",
			[]gpu.Kernel{{Kind: gpu.GEMM, Batch: 4, M: 8, N: 8, K: 8, Layout: gpu.NT, In: gpu.BF16, Out: gpu.FP32,
				Accumulate: true}}, 50, 1e-6,
		},
		{
			"attention", "gpu_type,dtype,batch,seq,heads,kv_heads,head_dim,time_us\nB200,bf16,2,1024,8,4,128,40\n", "attention forward",
			[]gpu.Kernel{
				{Kind: gpu.Memory, ReadBytes: 2 * 1024 * 16 * 128 * 2, WriteBytes: 2 * 1024 * 16 * 128 * 2},
				{Kind: gpu.Attention, Batch: 2, Heads: 8, KVHeads: 4, SeqQ: 1024, SeqK: 1024, HeadDim: 128,
					In: gpu.BF16, Causal: true},
			}, 16, 40e-6,
		},
		{
			"efficiency of a GEMM", "gpu_type,op,peak_tflops,shape_key,efficiency\nB200,matmul,2000,\"b=1, m=1000, " +
				"k=1000, n=1000, layout=NT, accumulate=True, out_dtype=fp32\",0.5\n", "gemm NT",
			[]gpu.Kernel{{Kind: gpu.GEMM, Batch: 1, M: 1000, N: 1000, K: 1000, Layout: gpu.NT, In: gpu.BF16,
				Out: gpu.FP32, Accumulate: true}}, 100, 2e-6,
		},
		{
			"efficiency of attention counts all scores", "gpu_type,op,peak_tflops,shape_key,efficiency\nB200,sdp_bwd,1000,\"batch=1, seq_len=1000, head_num=10, kv_head_num=10, qk_head_dim=192, v_head_dim=128, qkv_contiguous=True\",0.5\n", "attention backward",
			[]gpu.Kernel{{Kind: gpu.Attention, Batch: 1, Heads: 10, KVHeads: 10, SeqQ: 1000, SeqK: 1000, HeadDim: 160,
				In: gpu.BF16, Causal: true, Backward: true}}, 100, 3.2e-5,
		},
		{
			"grouped GEMM", "gpu_type,op,peak_tflops,shape_key,efficiency\nB200,group_matmul,1000,\"ng=10, M=100, " +
				"N=200, K=300, dtype=bf16, out_dtype=bf16, main_grad_dtype=fp32, stage=bwd_grad_w, " +
				"accumulate=True\",0.12\n", "grouped gemm NT",
			[]gpu.Kernel{{Kind: gpu.GEMM, Batch: 10, Launches: 10, M: 200, N: 300, K: 100, Layout: gpu.NT,
				In: gpu.BF16, Out: gpu.FP32, Accumulate: true}}, 100, 1e-6,
		},
	} {
		ms := readKernels(t, c.text)
		require.Len(t, ms, 1, c.name)
		m := ms[0]
		assert.Empty(t, m.Skipped, c.name)
		assert.Equal(t, c.operation, m.Operation, c.name)
		assert.Equal(t, c.kernels, m.Kernels, c.name)
		assert.Equal(t, c.repeats, m.Repeats, c.name)
		assert.InEpsilon(t, c.seconds, m.Seconds, 1e-9, c.name)
		assert.Equal(t, "t.csv:2", m.ID, c.name)
	}
}

func TestBadRowsAreSkippedWithTheReason(t *testing.T) {
	ms := readKernels(t,
		"gpu_type,dtype,m,n,k,time_us,layout\nA100,bf16,0,8,8,1,\nA100,bf16,8,8,8,,\nA100,int8,8,8,8,1,\nA100,bf16,8,8,8,-1,\nA100,bf16,8,8,8,1,TT\nA100,bf16,8\n")
	require.Len(t, ms, 6)
	for i, reason := range []string{`m is "0"`, `tflops is ""`, `"int8" is not a number format`, `time_us is "-1"`,
		`"TT" is not a layout`, `n is ""`} {
		assert.Contains(t, ms[i].Skipped, reason)
	}
	ms = readKernels(t,
		"gpu_type,op,peak_tflops,shape_key,efficiency\nB200,conv,1,x,1\nB200,matmul,1,\"b=1, m=2\",1\n")
	assert.Contains(t, ms[0].Skipped, `op is "conv"`)
	assert.Contains(t, ms[1].Skipped, `shape_key's n is ""`)
}

func TestOtherFilesAreRefused(t *testing.T) {
	for _, text := range []string{"", "\n", "id,iter_time_s\n", "gpu_type,m,n\n"} {
		_, err := ReadKernels([]byte(text), "t.csv")
		assert.ErrorIs(t, err, errNoKernels, "%q", text)
	}
	_, err := ReadKernels([]byte("gpu_type,m,n,k,time_us\n\"x"), "t.csv")
	assert.ErrorContains(t, err, "t.csv: ")
}

func TestShippedTablesReadWhole(t *testing.T) {
	for name, n := range map[string]int{"gemm.csv": 3459, "attention.csv": 843, "efficiency.csv": 542} {
		text, err := os.ReadFile("testdata/" + name)
		require.NoError(t, err)
		ms := readKernels(t, string(text))
		assert.Len(t, ms, n, name)
		for i := range ms {
			assert.Empty(t, ms[i].Skipped, ms[i].ID)
		}
	}
}

func FuzzReadKernels(f *testing.F) {
	f.Add("gpu_type,dtype,m,n,k,time_us\nH200,bf16,512,1024,2048,7.5\n")
	f.Add("gpu_type,dtype,batch,seq,heads,kv_heads,head_dim,time_us\nB200,bf16,2,1024,8,4,128,40\n")
	f.Add("gpu_type,op,peak_tflops,shape_key,efficiency\nB200,matmul,2000,\"b=1, m=1, k=1, n=1, layout=NT, " +
		"accumulate=True, out_dtype=fp32\",0.5\n")
	f.Add("gpu_type,op,peak_tflops,shape_key,efficiency\nB200,sdp_fwd,1,\"batch=1, seq_len=1099511627776, " +
		"head_num=9, kv_head_num=1, qk_head_dim=9, v_head_dim=9\",1e-300\n")
	d, err := scenarios.LoadGPU("b200-sxm-180gb")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		ms, err := ReadKernels([]byte(text), "f")
		if err != nil {
			return
		}
		for i := range ms {
			if m := &ms[i]; m.Skipped == "" {
				assert.Positive(t, m.Seconds)
				assert.Positive(t, m.Predict(d), "%+v", m)
			}
		}
	})
}

func BenchmarkReadKernels(b *testing.B) {
	text, err := os.ReadFile("testdata/gemm.csv")
	require.NoError(b, err)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := ReadKernels(text, "gemm.csv"); err != nil {
			b.Fatal(err)
		}
	}
}
