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
	if most := float64(c.Experts) / float64(max(c.ExpertsPerToken, 1)); c.ExpertCapacity > most {
		add("expert_capacity", "%g gives an expert more than all tokens; write at most %g, experts / experts_per_token", c.ExpertCapacity, most)
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
	y := b.moveRows("moe.unpermute", out, x.rows)
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
// ones. Scores are fp32; FP8 recipes leave the product out.
func (b *builder) route(x value) value {
	e := b.Experts
	scores := b.tensor("moe.scores", x.rows, e, 4)
	product := b.gemm(x.rows, e, b.Hidden, gpu.TN)
	product.In = b.wide()
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
		back.In = b.wide()
		b.kernel("moe.router.dgrad", BackwardInput, back, ids(dscores), ids(dx))
		if !b.LoRA.On() {
			grad := b.weightGrad(e, b.Hidden, x.rows)
			grad.In = b.wide()
			b.kernel("moe.router.wgrad", BackwardWeight, grad, ids(dscores, x), b.keepGrad(ids(b.tensor("moe.router.weight_grad", e, b.Hidden, b.element()))))
		}
		b.setGrad(x, dx)
	})
	return probs
}

// small emits kernels over n bytes each as one operator.
func (b *builder) small(name string, phase Phase, kernels, n int64, reads, writes []TensorID) {
	b.launches(name, phase, gpu.Elementwise, kernels, kernels, kernels*n, kernels*n, reads, writes)
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
