package gpu

import (
	"math"

	"trainsim/sim"
)

// AttentionCost holds the parameters of fused attention kernels.
type AttentionCost struct {
	// Forward and Backward are the training kernels (FlashAttention, cuDNN).
	Forward  FusedCost `toml:"forward"`
	Backward FusedCost `toml:"backward"`
	// Prefill is the inference library's forward kernel, which the published
	// tables measure; training does not use it.
	Prefill FusedCost `toml:"prefill"`
	// FirstGeneration is the share of their rate that the kernels of
	// FlashAttention's first version reach; 0 stands for a half.
	FirstGeneration float64 `toml:"first_generation"`
	// WideBackward is the share of their rate that backward kernels reach for
	// heads of more than 128 elements, whose tiles leave less room to overlap;
	// 0 stands for 1.
	WideBackward float64 `toml:"wide_backward"`
}

// FusedCost is the cost of one fused attention kernel. A thread block takes
// Rows query rows of a head and walks over the keys.
type FusedCost struct {
	Rows int64 `toml:"block_rows"`
	// Efficiency is the share of the tensor-core peak of the products alone.
	Efficiency float64 `toml:"efficiency"`
	// Score is the time that one multiprocessor spends on a score beside the
	// products: exponentials and rescaling that are not hidden, in picoseconds.
	Score float64 `toml:"score_ps"`
	// Launch is the kernel's start and end, Setup a thread block's.
	Launch sim.Time `toml:"launch"`
	Setup  sim.Time `toml:"block_setup"`
	// Tail is how much of the longest block's time the device waits at the end.
	Tail float64 `toml:"tail"`
	// SecondGeneration is the share of the rate that FlashAttention-2's kernel
	// reaches; 0 stands for 1.
	SecondGeneration float64 `toml:"second_generation"`
}

func (a *AttentionCost) check(c *checks) {
	a.Forward.check(c, "attention.forward.")
	a.Backward.check(c, "attention.backward.")
	a.Prefill.check(c, "attention.prefill.")
	c.within("attention.first_generation", a.FirstGeneration, 0, 1)
	c.within("attention.wide_backward", a.WideBackward, 0, 1)
}

func (f *FusedCost) check(c *checks, key string) {
	c.within(key+"block_rows", float64(f.Rows), 1, 1<<20)
	c.share(key+"efficiency", f.Efficiency)
	c.notNegative(key+"score_ps", f.Score)
	c.notNegative(key+"launch", float64(f.Launch))
	c.notNegative(key+"block_setup", float64(f.Setup))
	c.within(key+"tail", f.Tail, 0, 1)
	c.within(key+"second_generation", f.SecondGeneration, 0, 1)
}

func (d *Device) attentionSeconds(k *Kernel, sms int, beside sim.Bandwidth) float64 {
	cost := &d.Attention.Forward
	if k.Backward {
		cost = &d.Attention.Backward
	}
	s := d.fusedSeconds(k, cost, float64(sms), beside)
	switch {
	case k.FirstGeneration:
		s /= d.Attention.firstGeneration()
	case k.SecondGeneration && cost.SecondGeneration > 0:
		s /= cost.SecondGeneration
	}
	if w := d.Attention.WideBackward; w > 0 && k.Backward && k.HeadDim > 128 {
		s /= w
	}
	return s
}

// firstGeneration resolves FirstGeneration. FlashAttention-2 is about twice as
// fast as the first version (Dao 2023, arXiv 2307.08691).
func (a *AttentionCost) firstGeneration() float64 {
	if a.FirstGeneration > 0 {
		return a.FirstGeneration
	}
	return 0.5
}

// fusedSeconds spreads the blocks of query rows over the multiprocessors. The
// time is the mean load and a part of the longest block, at least the longest
// block, and at least the time of the memory traffic.
func (d *Device) fusedSeconds(k *Kernel, f *FusedCost, sms float64, beside sim.Bandwidth) float64 {
	rows := min(f.Rows, max(k.SeqQ, 1))
	perHead := ceilDiv(max(k.SeqQ, 1), rows)
	blocks := float64(max(k.Batch, 1)) * float64(max(k.Heads, 1)) * float64(perHead)
	score := d.scoreSeconds(k, f) * float64(rows)
	longest := f.Setup.Seconds() + float64(score*float64(max(k.SeqK, 1)))
	mean := f.Setup.Seconds() + float64(score*meanKeys(k, rows))
	load := blocks * mean / sms
	busy := max(load+float64(f.Tail*longest), longest)
	return f.Launch.Seconds() + max(busy, d.attentionTraffic(k, beside))
}

// scoreSeconds is one multiprocessor's time for one score: the products of
// forward (2) or backward (5) and what the softmax adds.
func (d *Device) scoreSeconds(k *Kernel, f *FusedCost) float64 {
	products := 2.0
	if k.Backward {
		products = 5
	}
	flops := 2 * products * float64(max(k.HeadDim, 1))
	return flops/(d.Peak(k.In)/float64(d.SMs)*f.Efficiency) + float64(f.Score*1e-12)
}

// meanKeys is the mean number of keys that a block of query rows meets. With a
// causal mask a row sees the keys up to its own, and a block the keys of its last row.
func meanKeys(k *Kernel, rows int64) float64 {
	keys := float64(max(k.SeqK, 1))
	if !k.Causal {
		return keys
	}
	q := float64(max(k.SeqQ, 1))
	seen := math.Max(keys-q, 0) + (min(q, keys)+float64(rows))/2
	return min(seen, keys)
}

// attentionTraffic is the time to read and write the operands once: q, k, v and
// the output, and in backward their gradients too.
func (d *Device) attentionTraffic(k *Kernel, beside sim.Bandwidth) float64 {
	b, dim := float64(max(k.Batch, 1)), float64(k.HeadDim)
	q := b * float64(k.Heads) * float64(k.SeqQ) * dim
	kv := b * float64(max(k.KVHeads, 1)) * float64(k.SeqK) * dim
	bytes := (2*q + 2*kv) * float64(k.In.Bytes())
	if k.Backward {
		bytes *= 2
	}
	return bytes / d.room(1, beside)
}
