package model

import "trainsim/sim/gpu"

// A layer with experts sends each token to a few of many feed-forward blocks,
// as Megatron-Core does: the router scores the experts, tokens are put in the
// order of their experts, an all-to-all over the expert-parallel ranks brings
// each to the rank of its expert, one grouped product runs all experts of a
// rank, and the way back is the same. Experts get equal numbers of tokens, as
// load balancing wants.

// expertFFN returns the width of one expert.
func (c *Config) expertFFN() int64 {
	if c.ExpertFFN > 0 {
		return c.ExpertFFN
	}
	return c.FFN
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

// Shardings lists how the model's parameters are shared among ranks.
func (s *Spec) Shardings() []Sharding {
	if s.Experts > 0 && s.expertsApart() {
		return []Sharding{Replicated, ByExpert}
	}
	return []Sharding{Replicated}
}

// expertsApart reports whether experts have gradients to share with other ranks
// than the rest of the layer.
func (s *Spec) expertsApart() bool { return s.EP > 1 || s.ExpertTP != s.TP }

// experts is the block of experts from its norm's output to its own output.
func (b *Builder) experts(x Value) Value {
	var shared Value
	if b.SharedExpertFFN > 0 {
		shared = b.sharedExperts(x)
	}
	weights := b.route(x)
	rows := b.routedRows(x.Rows)
	sent := b.permute("moe.permute", x, rows)
	here := b.toExperts(sent, weights)
	out := b.fromExperts(b.expertLayers(here))
	y := b.moveRows("moe.unpermute", out, x.Rows)
	if b.SharedExpertFFN > 0 {
		y = b.sum("moe.add_shared", y, shared)
	}
	return y
}

// sharedExperts sees every token.
func (b *Builder) sharedExperts(x Value) Value {
	ffn, width := b.SharedExpertFFN/b.TP, b.SharedExpertFFN/b.TP
	if b.MLP.gated() {
		width *= 2
	}
	up := b.linear(matrix{name: "moe.shared.fc1", width: width, split: column}, x)
	y := b.linear(matrix{name: "moe.shared.fc2", width: b.Hidden, split: row}, b.activation("moe.shared.act", up, ffn))
	if b.SharedExpertGate {
		gate := b.linear(matrix{name: "moe.shared.gate", width: 1, split: replicated}, x)
		y = b.scale("moe.shared.scale", y, gate)
	}
	return y
}

// scale multiplies each row of y by its gate's sigmoid.
func (b *Builder) scale(name string, y, gate Value) Value {
	out := b.like(name+".out", y)
	n := y.Rows * y.Width * b.element()
	b.memory(name, b.phase, gpu.Elementwise, n, n, ids(y, gate), ids(out))
	b.Backward(func() {
		dy, dgate := b.like(name+".dx", y), b.like(name+".dgate", gate)
		b.memory(name+".bwd", BackwardInput, gpu.Elementwise, 2*n, n, ids(b.Gradient(out), y, gate), ids(dy, dgate))
		b.SetGradient(y, dy)
		b.SetGradient(gate, dgate)
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
// ones. Scores are fp32; FP8 recipes leave the product out.
func (b *Builder) route(x Value) Value {
	e := b.Experts
	scores := b.Tensor("moe.scores", x.Rows, e, 4)
	product := b.gemm(x.Rows, e, b.Hidden, gpu.TN)
	product.In = b.activations()
	product.Out = gpu.FP32
	b.kernel("moe.router", b.phase, product, ids(x), ids(scores))
	b.addWeights(e*b.Hidden, false)
	probs := b.Tensor("moe.probs", x.Rows, e, 4)
	choice := b.Tensor("moe.routing_map", x.Rows, e, 1)
	n := x.Rows * e * 4
	b.small("moe.route", b.phase, routeKernels, n, ids(scores), ids(probs, choice))
	b.Backward(func() {
		dscores := b.Tensor("moe.dscores", x.Rows, e, 4)
		b.small("moe.route.bwd", BackwardInput, routeBackwardKernels, n, ids(probs, choice, scores), ids(dscores))
		dx := b.like("moe.router.dx", x)
		back := b.gemm(x.Rows, b.Hidden, e, gpu.NN)
		back.In = b.activations()
		b.kernel("moe.router.dgrad", BackwardInput, back, ids(dscores), ids(dx))
		if !b.LoRA.On() {
			grad := b.weightGrad(e, b.Hidden, x.Rows)
			grad.In = b.activations()
			written := b.Tensor("moe.router.weight_grad", e, b.Hidden, b.element())
			b.kernel("moe.router.wgrad", BackwardWeight, grad, ids(dscores, x), b.keepGrad(ids(written)))
		}
		b.SetGradient(x, dx)
	})
	return probs
}

// small emits kernels over n bytes each as one operator.
func (b *Builder) small(name string, phase Phase, kernels, n int64, reads, writes []TensorID) {
	b.launches(name, phase, gpu.Elementwise, kernels, kernels, kernels*n, kernels*n, reads, writes)
}

// toExperts brings the tokens to the ranks of their experts, with the weight of
// each, which the activation needs there. Under expert tensor parallelism every
// rank of an expert gets the tokens of all of them.
func (b *Builder) toExperts(x, weights Value) Value {
	if b.EP > 1 {
		arrived := b.Tensor("moe.weights", x.Rows, 1, 4)
		c := Comm{Group: EP, Collective: AllToAll, Bytes: x.Rows * 4}
		b.collective("moe.weights.all_to_all", b.phase, c, ids(weights), ids(arrived))
	}
	x = b.exchange("moe.dispatch", x)
	if b.ExpertTP > 1 {
		x = b.gatherExperts("moe.gather", x)
	}
	return b.sortExperts("moe.sort", x)
}

func (b *Builder) fromExperts(y Value) Value {
	y = b.sortExperts("moe.unsort", y)
	if b.ExpertTP > 1 {
		y = b.scatterExperts("moe.scatter", y)
	}
	return b.exchange("moe.combine", y)
}
