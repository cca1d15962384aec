package model

import "trainsim/sim/gpu"

// permute puts tokens in the order of their experts, a copy for each.
func (b *builder) permute(name string, x value, rows int64) value {
	order := b.tensor(name+".order", x.rows, 2*b.Experts+1, 4) // Transformer Engine's row_id_map
	y := b.moveRows(name, x, rows, order)
	if b.ExpertCapacity == 0 { // how many tokens each expert gets is read by the host
		b.emit(Op{Name: b.layer + name + ".counts", Kind: HostSync, Phase: b.phase})
	}
	return y
}

// sortExperts brings the rows of each of a rank's experts together, which come
// from every other rank in pieces, and apart again.
func (b *builder) sortExperts(name string, x value) value {
	if b.localExperts() == 1 || b.EP*b.ExpertTP == 1 {
		return x
	}
	return b.moveRows(name, x, x.rows)
}

// moveRows gathers rows by an index, some of them several times, or sums rows of
// one index. The backward goes the other way, by the same order, which is kept.
func (b *builder) moveRows(name string, x value, rows int64, order ...value) value {
	y := b.tensor(name+".out", rows, x.width, b.element())
	in, out := x.rows*x.width*b.element(), rows*x.width*b.element()
	b.memory(name, b.phase, gpu.Permute, max(in, out), out, ids(x), ids(append(order, y)...))
	layer := b.layer
	b.push(func() {
		b.layer = layer
		dx := b.like(name+".dx", x)
		b.memory(name+".bwd", BackwardInput, gpu.Permute, max(in, out), in, ids(append(order, b.grad(y))...), ids(dx))
		b.setGrad(x, dx)
	})
	return y
}

// exchange is an all-to-all over the expert-parallel ranks, and once more for
// the gradients.
func (b *builder) exchange(name string, x value) value {
	if b.EP == 1 {
		return x
	}
	c := Comm{Group: EP, Collective: AllToAll, Bytes: x.rows * x.width * b.element()}
	return b.tradeRows(name, x, x.rows, c, c)
}

// gatherExperts collects the tokens of the ranks that share experts,
// scatterExperts sums the parts of what the experts made of them.
func (b *builder) gatherExperts(name string, x value) value {
	whole := x
	whole.rows *= b.ExpertTP
	return b.tradeRows(name, x, whole.rows, b.tpComm(AllGather, whole), b.tpComm(ReduceScatter, whole))
}

func (b *builder) scatterExperts(name string, x value) value {
	return b.tradeRows(name, x, x.rows/b.ExpertTP, b.tpComm(ReduceScatter, x), b.tpComm(AllGather, x))
}

// tradeRows is a collective that turns x into so many rows, and the one that
// brings the gradients back.
func (b *builder) tradeRows(name string, x value, rows int64, there, back Comm) value {
	y := b.tensor(name+".out", rows, x.width, b.element())
	b.collective(name, b.phase, there, ids(x), ids(y))
	layer := b.layer
	b.push(func() {
		b.layer = layer
		dx := b.like(name+".dx", x)
		b.collective(name+".bwd", BackwardInput, back, ids(b.grad(y)), ids(dx))
		b.setGrad(x, dx)
	})
	return y
}
