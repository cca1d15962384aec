package gpu

// AttentionCost holds the parameters of the fused attention model.
type AttentionCost struct {
	// Forward and Backward are the shares of the tensor-core peak that long
	// sequences reach.
	Forward  float64 `toml:"forward_efficiency"`
	Backward float64 `toml:"backward_efficiency"`
	// Rows is how many query rows a thread block takes.
	Rows int64 `toml:"block_rows"`
}

func (a *AttentionCost) check(c *checks) {
	c.share("attention.forward_efficiency", a.Forward)
	c.share("attention.backward_efficiency", a.Backward)
	c.positive("attention.block_rows", float64(a.Rows))
}

// attentionSeconds spreads one block of query rows a head over the multiprocessors.
func (d *Device) attentionSeconds(k *Kernel) float64 {
	blocks := max(k.Batch, 1) * max(k.Heads, 1) * ceilDiv(max(k.SeqQ, 1), d.Attention.Rows)
	waves := float64(ceilDiv(blocks, int64(d.SMs)))
	share := d.Attention.Forward
	if k.Backward {
		share = d.Attention.Backward
	}
	rate := d.Peak(k.In) * share / float64(d.SMs)
	return max(waves*(k.FLOPs()/float64(blocks))/rate, d.attentionTraffic(k))
}

func (d *Device) attentionTraffic(k *Kernel) float64 {
	q := float64(max(k.Batch, 1)*k.Heads*k.SeqQ) * float64(k.HeadDim)
	kv := float64(max(k.Batch, 1)*max(k.KVHeads, 1)*k.SeqK) * float64(k.HeadDim)
	bytes := float64(2*q+2*kv) * float64(k.In.Bytes())
	if k.Backward {
		bytes *= 2
	}
	return bytes / float64(d.MemoryBandwidth)
}
