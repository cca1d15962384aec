package gpu

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/sim"
)

// randomKernel draws a kernel of the sizes that training has.
func randomKernel(r interface{ IntN(int) int }) Kernel {
	size := func(lo, hi int) int64 { return int64(lo) << r.IntN(hi) * int64(1+r.IntN(3)) }
	switch r.IntN(3) {
	case 0:
		return Kernel{
			Kind: GEMM, Batch: size(1, 5), M: size(64, 8), N: size(64, 8), K: size(64, 8),
			Layout: Layout(r.IntN(3)), In: BF16, Out: Dtype(r.IntN(4)), Accumulate: r.IntN(2) == 0,
		}
	case 1:
		heads, seq := size(1, 6), size(128, 7)
		return Kernel{
			Kind: Attention, Batch: size(1, 4), Heads: heads, KVHeads: heads, SeqQ: seq, SeqK: seq,
			HeadDim: size(32, 3), Causal: r.IntN(2) == 0, Backward: r.IntN(2) == 0, In: BF16,
		}
	}
	return Kernel{Kind: Memory, Class: Class(r.IntN(int(NumClasses))), ReadBytes: size(1<<10, 20), WriteBytes: size(1<<10, 20)}
}

// least is the roofline: the data sheet's rate and bandwidth, operands moved once.
func least(d *Device, k *Kernel) float64 {
	bytes := float64(k.ReadBytes + k.WriteBytes)
	if k.Kind == GEMM {
		bytes = float64(k.Batch) * float64((k.M*k.K+k.N*k.K)*k.In.Bytes()+k.M*k.N*k.Out.Bytes())
	}
	return max(k.FLOPs()/d.Peak(k.In), bytes/float64(d.MemoryBandwidth))
}

func TestNothingIsFasterThanTheRoofline(t *testing.T) {
	all := presets(t)
	r := sim.NewRand(1, "gpu/roofline")
	for range 5000 {
		d, k := all[r.IntN(len(all))], randomKernel(r)
		floor := least(d, &k) * (1 - 1e-9)
		assert.GreaterOrEqual(t, d.Time(&k).Seconds(), floor, "%s %+v", d.Name, k)
		assert.GreaterOrEqual(t, d.TimeAlone(&k, 1).Seconds(), floor, "%s %+v", d.Name, k)
	}
}

func TestAStepIsNeverFasterThanABurst(t *testing.T) {
	all := presets(t)
	r := sim.NewRand(2, "gpu/burst")
	for range 2000 {
		d, k := all[r.IntN(len(all))], randomKernel(r)
		one, ten, step := d.TimeAlone(&k, 1), d.TimeAlone(&k, 10), d.Time(&k)
		assert.LessOrEqual(t, one, ten, "%s %+v", d.Name, k)
		assert.LessOrEqual(t, ten, step, "%s %+v", d.Name, k)
		assert.LessOrEqual(t, step, d.TimeBeside(&k, Beside{SMs: 20, Traffic: 1e11}), "%s %+v", d.Name, k)
	}
}

// Doubling a dimension costs more, but for small products where the library's
// heuristic then finds a better tile or split; even there it gains no fifth.
func TestMoreWorkTakesLonger(t *testing.T) {
	all := presets(t)
	r := sim.NewRand(3, "gpu/monotone")
	for range 3000 {
		d, k := all[r.IntN(len(all))], randomKernel(r)
		before := d.Time(&k)
		for _, grow := range []func(*Kernel){
			func(k *Kernel) { k.M *= 2 }, func(k *Kernel) { k.N *= 2 }, func(k *Kernel) { k.K *= 2 },
			func(k *Kernel) { k.Batch *= 2 }, func(k *Kernel) { k.Heads *= 2; k.KVHeads *= 2 },
			func(k *Kernel) { k.SeqQ *= 2; k.SeqK *= 2 }, func(k *Kernel) { k.ReadBytes *= 2 },
		} {
			more := k
			grow(&more)
			after := d.Time(&more)
			assert.GreaterOrEqual(t, float64(after), 0.8*float64(before), "%s %+v", d.Name, more)
		}
	}
}

func TestDimensionsInsideOneTileAreFree(t *testing.T) {
	d := preset(t, "a100-sxm4-80gb")
	d.GEMM.Tiles = []Tile{{M: 128, N: 128, Efficiency: 0.9, Preference: 1}}
	d.Power.FullClock = 1
	k := Kernel{Kind: GEMM, M: 1025, N: 2048, K: 256, In: BF16, Out: BF16}
	full := k
	full.M = 1152 // nine tiles of 128
	assert.Equal(t, d.Time(&full), d.Time(&k))
	next := full
	next.M++
	assert.Greater(t, d.Time(&next), d.Time(&full))
}

// Doubling every rate and halving every latency halves every time.
func TestScaledDeviceScalesTimes(t *testing.T) {
	r := sim.NewRand(4, "gpu/scale")
	for _, d := range presets(t) {
		fast := faster(*d)
		for range 100 {
			k := randomKernel(r)
			assert.InEpsilon(t, float64(d.Time(&k)), 2*float64(fast.Time(&k)), 1e-3, "%s %+v", d.Name, k)
		}
	}
}

// faster is a device that does everything in half the time.
func faster(d Device) *Device {
	for _, rate := range []*FLOPS{&d.Rates.FP32, &d.Rates.TF32, &d.Rates.FP16, &d.Rates.BF16, &d.Rates.FP8} {
		*rate *= 2
	}
	d.MemoryBandwidth *= 2
	for _, t := range []*sim.Time{
		&d.LaunchGap, &d.GEMM.Launch, &d.GEMM.Setup, &d.GEMM.Drain, &d.GEMM.SplitSetup, &d.Streaming.Latency,
		&d.Attention.Forward.Launch, &d.Attention.Forward.Setup, &d.Attention.Backward.Launch, &d.Attention.Backward.Setup,
	} {
		*t /= 2
	}
	d.Attention.Forward.Score /= 2
	d.Attention.Backward.Score /= 2
	return &d
}

func TestMovingADimensionMovesNothingElse(t *testing.T) {
	r := sim.NewRand(5, "gpu/transpose")
	d := preset(t, "h100-sxm5-80gb")
	for range 500 {
		k := randomKernel(r)
		if k.Kind != GEMM || k.Layout == NN {
			continue // NN loads its two operands differently
		}
		turned := k
		turned.M, turned.N = k.N, k.M
		assert.Equal(t, d.Time(&k), d.Time(&turned), "%+v", k)
	}
}

func TestWideAndUnalignedProductsCostMore(t *testing.T) {
	d := preset(t, "b200-sxm-180gb")
	narrow := Kernel{Kind: GEMM, M: 8192, N: 8192, K: 2048, Layout: NT, In: BF16, Out: BF16}
	wide := narrow
	wide.Out, wide.Accumulate = FP32, true
	assert.Greater(t, d.Time(&wide), d.Time(&narrow))
	odd := narrow
	odd.N++
	assert.Greater(t, float64(d.Time(&odd)), 1.2*float64(d.Time(&narrow)))
}

func TestCausalAttentionTakesAboutHalf(t *testing.T) {
	d := preset(t, "h100-sxm5-80gb")
	k := Kernel{Kind: Attention, Batch: 4, Heads: 32, KVHeads: 32, SeqQ: 16384, SeqK: 16384, HeadDim: 128, In: BF16}
	causal := k
	causal.Causal = true
	assert.InDelta(t, 0.5, float64(d.Time(&causal))/float64(d.Time(&k)), 0.015)
	backward := causal
	backward.Backward = true
	assert.InDelta(t, 3.2, float64(d.Time(&backward))/float64(d.Time(&causal)), 0.1, "2.5 times the products, at a lower rate")
}

func TestMeanKeysIsTheMeanOverBlocks(t *testing.T) {
	for _, c := range []struct{ q, keys, rows int64 }{{1024, 1024, 128}, {512, 2048, 64}, {128, 128, 128}} {
		sum, blocks := 0.0, c.q/c.rows
		for b := range blocks {
			sum += float64(c.keys - c.q + (b+1)*c.rows)
		}
		k := Kernel{SeqQ: c.q, SeqK: c.keys, Causal: true}
		assert.InDelta(t, sum/float64(blocks), meanKeys(&k, c.rows), 1e-9)
	}
}

func TestThePowerLimitFollowsTheCubeLaw(t *testing.T) {
	p := PowerCost{FullClock: 0.5, Exponent: 3, Patience: sim.Millisecond}
	assert.Equal(t, 1.0, p.slowdown(0.5))
	assert.InDelta(t, math.Cbrt(1.6), p.slowdown(0.8), 1e-12)
	assert.InDelta(t, 1, p.briefly(0.8, 1e-6), 1e-5)
	assert.InDelta(t, p.slowdown(0.8), p.briefly(0.8, 1), 1e-5)
	assert.Equal(t, 1.0, p.briefly(0.8, 0))
}

func TestPeaksFallBackToWiderFormats(t *testing.T) {
	v := preset(t, "v100-sxm2-32gb")
	assert.Equal(t, 125e12, v.Peak(FP8))
	assert.Equal(t, 15.7e12, v.Peak(BF16), "Volta has no bf16")
	assert.Equal(t, 15.7e12, v.Peak(TF32))
	h := preset(t, "h100-sxm5-80gb")
	assert.InEpsilon(t, 2*h.Peak(BF16), h.Peak(FP8), 1e-3)
}

// TestSustained: training may have less power than a burst, never more time
// to itself than the burst's own limit says.
func TestSustained(t *testing.T) {
	p := PowerCost{FullClock: 0.5, Exponent: 3}
	assert.Equal(t, p.slowdown(0.8), p.sustained(0.8), "the same where nothing is said")
	p.Sustained = 0.4
	assert.InDelta(t, math.Cbrt(2), p.sustained(0.8), 1e-12)
	assert.Equal(t, 1.0, p.sustained(0.4))
}
