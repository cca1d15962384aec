package gpu

import (
	"fmt"
	"math"
)

// Tile is a thread block's share of a GEMM's result.
type Tile struct {
	M          int64   `toml:"m"`
	N          int64   `toml:"n"`
	Efficiency float64 `toml:"efficiency"` // share of the peak that its inner loop reaches
}

// GEMMCost holds the parameters of the GEMM model.
type GEMMCost struct {
	Tiles []Tile `toml:"tiles"`
	// NN and NT scale the efficiency of the layouts other than TN.
	NN float64 `toml:"nn_efficiency"`
	NT float64 `toml:"nt_efficiency"`
	// PrologueK is the time to fill and drain a tile's pipeline, as a length of the K loop.
	PrologueK float64 `toml:"prologue_k"`
	// Bandwidth is the share of the memory bandwidth that operands and results reach.
	Bandwidth float64 `toml:"memory_efficiency"`
}

func (g *GEMMCost) check(c *checks) {
	if len(g.Tiles) == 0 {
		c.fail("gemm.tiles", "is empty; write at least one tile such as {m = 128, n = 128, efficiency = 0.9}")
	}
	for i, t := range g.Tiles {
		key := fmt.Sprintf("gemm.tiles[%d]", i)
		c.positive(key+".m", float64(t.M))
		c.positive(key+".n", float64(t.N))
		c.share(key+".efficiency", t.Efficiency)
	}
	c.positive("gemm.nn_efficiency", g.NN)
	c.positive("gemm.nt_efficiency", g.NT)
	c.notNegative("gemm.prologue_k", g.PrologueK)
	c.share("gemm.memory_efficiency", g.Bandwidth)
}

// gemmSeconds is the larger of arithmetic under tile and wave quantisation, by
// the tile that is fastest, and of memory traffic.
func (d *Device) gemmSeconds(k *Kernel) float64 {
	best := math.Inf(1)
	for i := range d.GEMM.Tiles {
		best = min(best, d.tileSeconds(k, &d.GEMM.Tiles[i]))
	}
	return max(best, d.trafficSeconds(k))
}

func (d *Device) tileSeconds(k *Kernel, t *Tile) float64 {
	tiles := max(k.Batch, 1) * ceilDiv(max(k.M, 1), t.M) * ceilDiv(max(k.N, 1), t.N)
	waves := float64(ceilDiv(tiles, int64(d.SMs)))
	flops := 2 * float64(t.M*t.N) * (float64(max(k.K, 1)) + d.GEMM.PrologueK)
	rate := d.Peak(k.In) / float64(d.SMs) * t.Efficiency * d.layout(k)
	return waves * flops / rate
}

func (d *Device) layout(k *Kernel) float64 {
	switch k.Layout {
	case NN:
		return d.GEMM.NN
	case NT:
		return d.GEMM.NT
	}
	return 1
}

func (d *Device) trafficSeconds(k *Kernel) float64 {
	m, n, kk := float64(max(k.M, 1)), float64(max(k.N, 1)), float64(max(k.K, 1))
	out := float64(k.Out.Bytes())
	if k.Accumulate {
		out *= 2
	}
	bytes := float64(m*kk)*float64(k.In.Bytes()) + float64(n*kk)*float64(k.In.Bytes()) + float64(m*n)*out
	return float64(max(k.Batch, 1)) * bytes / (float64(d.MemoryBandwidth) * d.GEMM.Bandwidth)
}
