package model

import (
	"fmt"

	"trainsim/sim/gpu"
)

// A layer with experts sends each token to a few of many feed-forward blocks,
// as Megatron-Core does: the router scores the experts, tokens are put in the
// order of their experts, an all-to-all over the expert-parallel ranks brings
// each to the rank of its expert, one grouped product runs all experts of a
// rank, and the way back is the same. Experts get equal numbers of tokens, as
// load balancing wants.

// mixed reports whether the layer has experts.
func (c *Config) mixed(layer int64) bool { return c.Experts > 0 && layer >= c.DenseLayers }

// expertFFN returns the width of one expert.
func (c *Config) expertFFN() int64 {
	if c.ExpertFFN > 0 {
		return c.ExpertFFN
	}
	return c.FFN
}

// expertProblems are what is wrong with the mixture of experts.
func (c *Config) expertProblems() []Problem {
	var out []Problem
	add := func(key, format string, args ...any) { out = append(out, Problem{key, fmt.Sprintf(format, args...)}) }
	if c.Experts == 0 {
		for _, k := range []struct {
			key   string
			value bool
		}{{"experts_per_token", c.ExpertsPerToken > 0}, {"expert_ffn", c.ExpertFFN > 0}, {"shared_expert_ffn", c.SharedExpertFFN > 0},
			{"dense_layers", c.DenseLayers > 0}, {"expert_capacity", c.ExpertCapacity > 0}} {
			if k.value {
				add(k.key, "is for a mixture of experts; write experts, their number in a layer, too")
			}
		}
		return out
	}
	if c.ExpertsPerToken < 1 || c.ExpertsPerToken > c.Experts {
		add("experts_per_token", "%d of %d experts cannot take a token; write a number from 1 to experts", c.ExpertsPerToken, c.Experts)
	}
	if c.DenseLayers > c.Layers {
		add("dense_layers", "%d is more than the model's %d layers; write a smaller number", c.DenseLayers, c.Layers)
	}
	if c.SharedExpertGate && c.SharedExpertFFN == 0 {
		add("shared_expert_gate", "needs a shared expert; write shared_expert_ffn, its width, too")
	}
	if c.ParallelBlock {
		add("parallel_block", "is not modelled beside experts; write false")
	}
	if c.LinearBias {
		add("linear_bias", "experts have no biases here; write false")
	}
	return out
}

// routedRows returns how many rows of tokens a rank with n tokens sends to all
// experts together: each token once for each of its experts, or what fills
// every expert's share up to its capacity.
func (c *Config) routedRows(n int64) int64 {
	if c.ExpertCapacity == 0 {
		return n * c.ExpertsPerToken
	}
	share := float64(n*c.ExpertsPerToken) / float64(c.Experts)
	rows := int64(float64(share * c.ExpertCapacity))
	if float64(rows) < share*c.ExpertCapacity {
		rows++
	}
	return rows * c.Experts
}

// expertsApart reports whether experts have gradients to share with other ranks
// than the rest of the layer.
func (s *Spec) expertsApart() bool { return s.EP > 1 || s.ExpertTP != s.TP }

// experts is the block of experts from its norm's output to its own output.
func (b *builder) experts(x value) value {
	var shared value
	if b.SharedExpertFFN > 0 {
		shared = b.sharedExperts(x)
	}
	weights := b.route(x)
	rows := b.routedRows(x.rows)
	sent := b.permute("moe.permute", x, rows)
	here := b.toExperts(sent, weights)
	out := b.fromExperts(b.expertLayers(here))
	y := b.unpermute("moe.unpermute", out, x.rows)
	if b.SharedExpertFFN > 0 {
		y = b.sum("moe.add_shared", y, shared)
	}
	return y
}

// sharedExperts sees every token.
func (b *builder) sharedExperts(x value) value {
	ffn, width := b.SharedExpertFFN/b.TP, b.SharedExpertFFN/b.TP
	if b.MLP.Gated() {
		width *= 2
	}
	up := b.linear("moe.shared.fc1", x, width, column, false)
	y := b.linear("moe.shared.fc2", b.activation("moe.shared.act", up, ffn), b.Hidden, row, false)
	if b.SharedExpertGate {
		gate := b.linear("moe.shared.gate", x, 1, replicated, false)
		y = b.scale("moe.shared.scale", y, gate)
	}
	return y
}

// scale multiplies each row of y by its gate's sigmoid.
func (b *builder) scale(name string, y, gate value) value {
	out := b.like(name+".out", y)
	n := y.rows * y.width * b.element()
	b.memory(name, b.phase, gpu.Elementwise, n, n, ids(y, gate), ids(out))
	layer := b.layer
	b.push(func() {
		b.layer = layer
		dy, dgate := b.like(name+".dx", y), b.like(name+".dgate", gate)
		b.memory(name+".bwd", BackwardInput, gpu.Elementwise, 2*n, n, ids(b.grad(out), y, gate), ids(dy, dgate))
		b.setGrad(y, dy)
		b.setGrad(gate, dgate)
	})
	return out
}

// Kernels of the router's scores beside its product, by Megatron-Core's
// router.py and moe_utils.py: scores to probabilities, the best experts, their
// map, the auxiliary loss with its sums over the sequence, and back.
const (
	routeKernels         = 14
	routeBackwardKernels = 10
)

// route scores the experts for each token and keeps the weights of the chosen
// ones. Scores are fp32.
func (b *builder) route(x value) value {
	e := b.Experts
	scores := b.tensor("moe.scores", x.rows, e, 4)
	product := b.gemm(x.rows, e, b.Hidden, gpu.TN)
	product.In = b.routerDtype()
	product.Out = gpu.FP32
	b.kernel("moe.router", b.phase, product, ids(x), ids(scores))
	b.addWeights(e*b.Hidden, false)
	probs := b.tensor("moe.probs", x.rows, e, 4)
	choice := b.tensor("moe.routing_map", x.rows, e, 1)
	n := x.rows * e * 4
	b.small("moe.route", b.phase, routeKernels, n, ids(scores), ids(probs, choice))
	layer := b.layer
	b.push(func() {
		b.layer = layer
		dscores := b.tensor("moe.dscores", x.rows, e, 4)
		b.small("moe.route.bwd", BackwardInput, routeBackwardKernels, n, ids(probs, choice, scores), ids(dscores))
		dx := b.like("moe.router.dx", x)
		back := b.gemm(x.rows, b.Hidden, e, gpu.NN)
		back.In = b.routerDtype()
		b.kernel("moe.router.dgrad", BackwardInput, back, ids(dscores), ids(dx))
		if !b.LoRA.On() {
			grad := b.weightGrad(e, b.Hidden, x.rows)
			grad.In = b.routerDtype()
			b.kernel("moe.router.wgrad", BackwardWeight, grad, ids(dscores, x), b.keepGrad(ids(b.tensor("moe.router.weight_grad", e, b.Hidden, b.element()))))
		}
		b.setGrad(x, dx)
	})
	return probs
}

// routerDtype is the format of the router's product: FP8 recipes leave it out.
func (b *builder) routerDtype() gpu.Dtype {
	if b.Precision == gpu.FP8 {
		return gpu.BF16
	}
	return b.Precision
}

// small emits kernels over n bytes each as one operator.
func (b *builder) small(name string, phase Phase, kernels, n int64, reads, writes []TensorID) {
	b.emit(Op{Name: b.layer + name, Kind: Compute, Phase: phase, Launches: int32(kernels), Reads: reads, Writes: writes,
		Kernel: gpu.Kernel{Kind: gpu.Memory, Class: gpu.Elementwise, ReadBytes: kernels * n, WriteBytes: kernels * n, Launches: kernels}})
}

// permute puts tokens in the order of their experts, a copy for each.
func (b *builder) permute(name string, x value, rows int64) value {
	y := b.tensor(name+".out", rows, x.width, b.element())
	order := b.tensor(name+".order", x.rows, 2*b.Experts+1, 4) // Transformer Engine's row_id_map
	in, out := x.rows*x.width*b.element(), rows*x.width*b.element()
	b.memory(name, b.phase, gpu.Permute, out, out, ids(x), ids(y, order))
	if b.ExpertCapacity == 0 { // how many tokens each expert gets is read by the host
		b.emit(Op{Name: b.layer + name + ".counts", Kind: HostSync, Phase: b.phase})
	}
	layer := b.layer
	b.push(func() {
		b.layer = layer
		dx := b.like(name+".dx", x)
		b.memory(name+".bwd", BackwardInput, gpu.Permute, out, in, ids(b.grad(y), order), ids(dx))
		b.setGrad(x, dx)
	})
	return y
}

// unpermute sums what a token's experts gave, in the order of the tokens.
func (b *builder) unpermute(name string, x value, rows int64) value {
	y := b.tensor(name+".out", rows, x.width, b.element())
	in, out := x.rows*x.width*b.element(), rows*x.width*b.element()
	b.memory(name, b.phase, gpu.Permute, in, out, ids(x), ids(y))
	layer := b.layer
	b.push(func() {
		b.layer = layer
		dx := b.like(name+".dx", x)
		b.memory(name+".bwd", BackwardInput, gpu.Permute, in, in, ids(b.grad(y)), ids(dx))
		b.setGrad(x, dx)
	})
	return y
}

// toExperts brings the tokens to the ranks of their experts, with the weight of
// each, which the activation needs there. Under expert tensor parallelism every
// rank of an expert gets the tokens of all of them.
func (b *builder) toExperts(x, weights value) value {
	if b.EP > 1 {
		arrived := b.tensor("moe.weights", x.rows, 1, 4)
		b.collective("moe.weights.all_to_all", b.phase, Comm{Group: EP, Collective: AllToAll, Bytes: x.rows * 4}, ids(weights), ids(arrived))
	}
	x = b.exchange("moe.dispatch", x)
	if b.ExpertTP > 1 {
		x = b.gatherExperts("moe.gather", x)
	}
	return b.sortExperts("moe.sort", x)
}

func (b *builder) fromExperts(y value) value {
	y = b.sortExperts("moe.unsort", y)
	if b.ExpertTP > 1 {
		y = b.scatterExperts("moe.scatter", y)
	}
	return b.exchange("moe.combine", y)
}

// exchange is an all-to-all over the expert-parallel ranks, and once more for
// the gradients.
func (b *builder) exchange(name string, x value) value {
	if b.EP == 1 {
		return x
	}
	y := b.like(name+".out", x)
	c := Comm{Group: EP, Collective: AllToAll, Bytes: x.rows * x.width * b.element()}
	b.collective(name+".all_to_all", b.phase, c, ids(x), ids(y))
	layer := b.layer
	b.push(func() {
		b.layer = layer
		dx := b.like(name+".dx", x)
		b.collective(name+".bwd_all_to_all", BackwardInput, c, ids(b.grad(y)), ids(dx))
		b.setGrad(x, dx)
	})
	return y
}

// gatherExperts collects the tokens of the ranks that share experts.
func (b *builder) gatherExperts(name string, x value) value {
	y := b.tensor(name+".out", x.rows*b.ExpertTP, x.width, b.element())
	b.collective(name+".all_gather", b.phase, b.tpComm(AllGather, y), ids(x), ids(y))
	layer := b.layer
	b.push(func() {
		b.layer = layer
		dx := b.like(name+".dx", x)
		b.collective(name+".bwd_reduce_scatter", BackwardInput, b.tpComm(ReduceScatter, y), ids(b.grad(y)), ids(dx))
		b.setGrad(x, dx)
	})
	return y
}

// scatterExperts sums the parts of the ranks that share experts.
func (b *builder) scatterExperts(name string, x value) value {
	y := b.tensor(name+".out", x.rows/b.ExpertTP, x.width, b.element())
	b.collective(name+".reduce_scatter", b.phase, b.tpComm(ReduceScatter, x), ids(x), ids(y))
	layer := b.layer
	b.push(func() {
		b.layer = layer
		dx := b.like(name+".dx", x)
		b.collective(name+".bwd_all_gather", BackwardInput, b.tpComm(AllGather, x), ids(b.grad(y)), ids(dx))
		b.setGrad(x, dx)
	})
	return y
}

// sortExperts brings the rows of each of a rank's experts together, which come
// from every other rank in pieces, and apart again.
func (b *builder) sortExperts(name string, x value) value {
	if b.localExperts() == 1 || b.EP*b.ExpertTP == 1 {
		return x
	}
	y := b.like(name+".out", x)
	n := x.rows * x.width * b.element()
	b.memory(name, b.phase, gpu.Permute, n, n, ids(x), ids(y))
	layer := b.layer
	b.push(func() {
		b.layer = layer
		dx := b.like(name+".dx", x)
		b.memory(name+".bwd", BackwardInput, gpu.Permute, n, n, ids(b.grad(y)), ids(dx))
		b.setGrad(x, dx)
	})
	return y
}

// localExperts returns the experts of a rank.
func (b *builder) localExperts() int64 { return max(1, b.Experts/max(b.EP, 1)) }

// expertLayers are the feed-forward blocks of a rank's experts.
func (b *builder) expertLayers(x value) value {
	ffn := b.expertFFN() / b.ExpertTP
	width := ffn
	if b.MLP.Gated() {
		width *= 2
	}
	up := b.grouped("moe.fc1", x, width)
	return b.grouped("moe.fc2", b.activation("moe.act", up, ffn), b.Hidden)
}

// grouped multiplies the rows of each of a rank's experts by a matrix of its
// own (Transformer Engine's GroupedLinear).
func (b *builder) grouped(name string, x value, width int64) value {
	y := b.tensor(name+".out", x.rows, width, b.element())
	b.cast(name, b.phase, x)
	w := b.widenExperts(name, b.phase, width, x.width)
	b.products(name, b.phase, b.gemm(b.rowsEach(x), width, x.width, gpu.TN), append(w, x.id), ids(y))
	for range b.localExperts() {
		b.addExpert(x.width * width)
	}
	layer := b.layer
	b.push(func() {
		b.layer = layer
		b.groupedBackward(name, x, y)
	})
	return y
}

func (b *builder) groupedBackward(name string, x, y value) {
	dy := b.grad(y)
	b.cast(name+".dy", BackwardInput, dy)
	dx := b.like(name+".dx", x)
	w := b.widenExperts(name+".dgrad", BackwardInput, y.width, x.width)
	b.products(name+".dgrad", BackwardInput, b.gemm(b.rowsEach(x), x.width, y.width, gpu.NN), append(w, dy.id), ids(dx))
	if !b.LoRA.On() {
		writes := b.weightGradTensor(name, y.width, x.width)
		if b.WeightGrads == NewWeightGrads { // one for each expert
			t := &b.chunk.Tensors[writes[0]]
			t.Rows, t.Bytes = t.Rows*b.localExperts(), t.Bytes*b.localExperts()
		}
		b.products(name+".wgrad", BackwardWeight, b.weightGrad(y.width, x.width, b.rowsEach(x)), ids(x, dy, dx), b.keepGrad(writes))
		b.addGrad(name, b.localExperts()*y.width*x.width)
	}
	b.setGrad(x, dx)
}

// rowsEach returns the tokens of one expert.
func (b *builder) rowsEach(x value) int64 {
	return max(1, (x.rows+b.localExperts()-1)/b.localExperts())
}

// products is a grouped product: as many as the rank has experts, each a launch
// of its own; the framework's operator is one, except where it loops over the
// experts itself.
func (b *builder) products(name string, phase Phase, k gpu.Kernel, reads, writes []TensorID) {
	k.Batch, k.Launches = b.localExperts(), b.localExperts()
	op := Op{Name: b.layer + name, Kind: Compute, Phase: phase, Kernel: k, Reads: reads, Writes: writes, Loops: int32(b.localExperts())}
	switch {
	case b.Modules == PlainModules:
		op.Launches, op.Loops = op.Loops, 0
	case b.Precision == gpu.FP8: // each expert's rows are cast apart
		op.Loops *= 2
	}
	b.emit(op)
}

// widenExperts is widen for all experts of a rank.
func (b *builder) widenExperts(name string, phase Phase, out, in int64) []TensorID {
	return b.widen(name, phase, b.localExperts()*out, in)
}

// addExpert counts one expert's matrix.
func (b *builder) addExpert(n int64) {
	if b.LoRA.On() || !b.expertsApart() {
		b.addWeights(n, true)
		return
	}
	b.touchedExperts += n
	if b.phase == Forward {
		b.chunk.Parameters += n
		b.chunk.ExpertParameters += n
		b.chunk.ExpertWeights = append(b.chunk.ExpertWeights, n)
	}
}
