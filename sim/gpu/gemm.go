package gpu

import (
	"fmt"
	"math"

	"trainsim/sim"
)

// Tile is a thread block's share of a GEMM's result.
type Tile struct {
	M int64 `toml:"m"`
	N int64 `toml:"n"`
	// Efficiency is the share of the peak that the tile's inner loop reaches.
	Efficiency float64 `toml:"efficiency"`
	// Preference is how much faster than it really is the library's heuristic
	// believes the inner loop to be, against the other tiles: above 1 the tile is
	// chosen too often.
	Preference float64 `toml:"preference"`
}

// GEMMCost holds the parameters of the GEMM model.
type GEMMCost struct {
	// Tiles are the thread-block shapes that the library's heuristic chooses from.
	Tiles []Tile `toml:"tiles"`
	// Launch is the time to start the first and to retire the last thread block.
	Launch sim.Time `toml:"launch"`
	// Setup is a tile's time outside of its inner loop, whatever its size, and
	// Drain that of a tile of 256 x 128 results, in proportion to the area.
	Setup sim.Time `toml:"tile_setup"`
	Drain sim.Time `toml:"tile_drain"`
	// Tail is how much of an incomplete last wave's idle room is lost: 1 where
	// tiles are bound to waves, less where blocks are persistent or speed up
	// when the others have finished.
	Tail float64 `toml:"tail"`
	// SplitSetup is the cost of splitting K over thread blocks, SplitTraffic the
	// exposed share of the partial results' memory traffic, and SplitAversion
	// how much dearer than SplitSetup the heuristic takes a split to be.
	SplitSetup    sim.Time `toml:"split_setup"`
	SplitTraffic  float64  `toml:"split_traffic"`
	SplitAversion float64  `toml:"split_aversion"`
	// NN and NT scale the inner loop's efficiency in the layouts other than TN.
	NN float64 `toml:"nn_efficiency"`
	NT float64 `toml:"nt_efficiency"`
	// Unaligned scales it where a row is not a multiple of 16 bytes.
	Unaligned float64 `toml:"unaligned_efficiency"`
	// UnalignedBatch is the share of the fp32 rate that batched products with
	// such rows reach, where the library runs them without tensor cores; 0 where
	// it does not and Unaligned holds.
	UnalignedBatch float64 `toml:"unaligned_batch_of_fp32"`
	// FP8 scales it in FP8, where a part of the products add up twice, once in
	// the tensor cores and once outside; 0 stands for 1.
	FP8 float64 `toml:"fp8_efficiency"`
	// WideOutput is the exposed share of the traffic of results beyond two bytes
	// each: fp32 results, and the reading of those that are accumulated onto.
	WideOutput float64 `toml:"wide_output"`
	// ColdOperands is the exposed share of the memory traffic of products that are
	// launched one an expert: their operands are met once, where a benchmark of
	// one product finds them in the cache. Apart is what each such launch adds.
	ColdOperands float64  `toml:"cold_operands"`
	Apart        sim.Time `toml:"apart"`
	// Bandwidth is the share of the memory bandwidth that operands and results reach.
	Bandwidth float64 `toml:"memory_efficiency"`
}

func (g *GEMMCost) check(c *checks) {
	if len(g.Tiles) == 0 {
		c.fail("gemm.tiles", "is empty; write at least one tile such as {m = 128, n = 128, efficiency = 0.9, "+
			"preference = 1}")
	}
	for i, t := range g.Tiles {
		key := fmt.Sprintf("gemm.tiles[%d]", i)
		c.within(key+".m", float64(t.M), 1, 1<<20)
		c.within(key+".n", float64(t.N), 1, 1<<20)
		c.share(key+".efficiency", t.Efficiency)
		c.positive(key+".preference", t.Preference)
	}
	c.notNegative("gemm.launch", float64(g.Launch))
	c.notNegative("gemm.tile_setup", float64(g.Setup))
	c.notNegative("gemm.tile_drain", float64(g.Drain))
	c.within("gemm.tail", g.Tail, 0, 1)
	c.notNegative("gemm.split_setup", float64(g.SplitSetup))
	c.notNegative("gemm.split_traffic", g.SplitTraffic)
	c.notNegative("gemm.split_aversion", g.SplitAversion)
	c.share("gemm.nn_efficiency", g.NN)
	c.share("gemm.nt_efficiency", g.NT)
	c.share("gemm.unaligned_efficiency", g.Unaligned)
	c.within("gemm.fp8_efficiency", g.FP8, 0, 1)
	c.within("gemm.unaligned_batch_of_fp32", g.UnalignedBatch, 0, 1)
	c.notNegative("gemm.wide_output", g.WideOutput)
	c.within("gemm.cold_operands", g.ColdOperands, 0, 1)
	c.notNegative("gemm.apart", float64(g.Apart))
	c.share("gemm.memory_efficiency", g.Bandwidth)
}

// product is a GEMM prepared for the tile model: its sizes as floats and what
// does not depend on the tile.
type product struct {
	batch, m, n, k float64
	smRate         float64 // FLOP/s of one multiprocessor's inner loop at efficiency 1
	wide           float64 // seconds for the exposed traffic of wide results
	partial        float64 // seconds for the exposed traffic of one partial result
}

// gemmSeconds is the larger of arithmetic under tile and wave quantisation on
// some of the multiprocessors and of memory traffic.
func (d *Device) gemmSeconds(k *Kernel, sms int, beside sim.Bandwidth) float64 {
	p := d.prepare(k)
	return d.GEMM.Launch.Seconds() + max(d.GEMM.tiled(&p, float64(d.SMs), float64(sms)), d.gemmTraffic(k, beside))
}

func (d *Device) prepare(k *Kernel) product {
	p := product{
		batch: float64(max(k.Batch, 1)), m: float64(max(k.M, 1)), n: float64(max(k.N, 1)), k: float64(max(k.K, 1)),
		smRate: d.rate(k) / float64(d.SMs),
	}
	perResult := p.batch * p.m * p.n / float64(d.MemoryBandwidth)
	p.wide = perResult * max(outBytes(k)-2, 0) * d.GEMM.WideOutput
	p.partial = perResult * 4 * d.GEMM.SplitTraffic
	return p
}

// rate is the arithmetic rate of the inner loops of a product.
func (d *Device) rate(k *Kernel) float64 {
	if d.GEMM.UnalignedBatch > 0 && k.Batch > 1 && k.In.Bytes() < 4 && unaligned(k) {
		return d.Peak(FP32) * d.GEMM.UnalignedBatch
	}
	return d.Peak(k.In) * d.GEMM.layout(k)
}

// splits are the ways to divide K over thread blocks.
var splits = [...]float64{1, 2, 3, 4, 5, 6, 8, 10, 12, 16}

// leastSplitK is the shortest K that a thread block is left with when K is
// split, and mostSplitWaves how many waves of tiles leave nothing to gain from it.
const (
	leastSplitK    = 256
	mostSplitWaves = 4
)

// tiled returns the seconds on the free multiprocessors of the tile and split
// that the library chooses: the best on all by its own belief, which need not
// be the fastest.
func (g *GEMMCost) tiled(p *product, sms, free float64) float64 {
	belief, seconds := math.Inf(1), math.Inf(1)
	setup, drain, split := g.Setup.Seconds(), g.Drain.Seconds(), g.SplitSetup.Seconds()
	for i := range g.Tiles {
		t := &g.Tiles[i]
		area := float64(t.M * t.N)
		tiles := p.batch * math.Ceil(p.m/float64(t.M)) * math.Ceil(p.n/float64(t.N))
		fixed := setup + float64(drain*area/(256*128))
		loop := 2 * area * p.k / (p.smRate * t.Efficiency)
		for _, s := range splits {
			if s > 1 && (p.k < s*leastSplitK || tiles > mostSplitWaves*sms) {
				break
			}
			b := g.waves(tiles*s, sms) * (loop/s/t.Preference + fixed)
			merge := 0.0
			if s > 1 {
				b += split*g.SplitAversion + float64(p.partial*(s+1))
				merge = split + float64(p.partial*(s+1))
			}
			if b < belief {
				belief = b
				seconds = float64(g.waves(tiles*s, free)*(loop/s+fixed)) + merge
			}
		}
	}
	return seconds + p.wide
}

// waves is how many times the multiprocessors are filled with thread blocks.
func (g *GEMMCost) waves(blocks, sms float64) float64 {
	x := blocks / sms
	return x + float64(g.Tail*(math.Ceil(x)-x))
}

// layout is the efficiency of the inner loop's loads.
func (g *GEMMCost) layout(k *Kernel) float64 {
	x := 1.0
	switch k.Layout {
	case NN:
		x = g.NN
	case NT:
		x = g.NT
	}
	if unaligned(k) {
		x *= g.Unaligned
	}
	if k.In == FP8 && g.FP8 > 0 {
		x *= g.FP8
	}
	return x
}

// unaligned reports whether the rows of an operand are no multiple of 16 bytes.
func unaligned(k *Kernel) bool {
	a, b := contiguous(k)
	return a*k.In.Bytes()%16 != 0 || b*k.In.Bytes()%16 != 0
}

// contiguous returns the lengths of the two operands' rows in memory.
func contiguous(k *Kernel) (a, b int64) {
	switch k.Layout {
	case NN:
		return k.K, k.N
	case NT:
		return k.M, k.N
	}
	return k.K, k.K
}

// outBytes is the memory traffic of one result.
func outBytes(k *Kernel) float64 {
	if k.Accumulate {
		return 2 * float64(k.Out.Bytes())
	}
	return float64(k.Out.Bytes())
}

// gemmTraffic is the time to read the operands once and to write the results.
func (d *Device) gemmTraffic(k *Kernel, beside sim.Bandwidth) float64 {
	m, n, kk := float64(max(k.M, 1)), float64(max(k.N, 1)), float64(max(k.K, 1))
	in := float64(k.In.Bytes())
	bytes := float64(m*kk*in) + float64(n*kk*in) + float64(m*n*outBytes(k))
	return float64(max(k.Batch, 1)) * bytes / d.room(d.GEMM.Bandwidth, beside)
}
