package model

// transformer is the family of models whose layers are attention and a
// feed-forward block.
type transformer struct{}

// Stack returns dense layers and, where the model has experts, those with them.
func (transformer) Stack(c *Config) Stack {
	s := Stack{Embedding: embedding{}, Head: head{}}
	if c.Experts == 0 {
		s.Blocks = []Block{{block{}, c.Layers}}
		return s
	}
	if c.DenseLayers > 0 {
		s.Blocks = append(s.Blocks, Block{block{}, c.DenseLayers})
	}
	s.Blocks = append(s.Blocks, Block{block{experts: true}, c.Layers - c.DenseLayers})
	return s
}

// block is a transformer layer.
type block struct {
	experts bool // in place of one feed-forward block
}

// Input returns a rank's tokens.
func (block) Input(s *Spec) (rows, width int64) { return s.shardTokens(), s.Hidden }

// Forward is attention and feed-forward block, one behind the other.
func (l block) Forward(b *Builder, x Value) Value {
	if b.ParallelBlock {
		return l.parallel(b, x)
	}
	a := b.attention(b.norm("norm1", x))
	if b.PostNorms {
		a = b.norm("norm1.post", a)
	}
	x = b.residual("attn.add", a, x)
	m := l.feedForward(b, b.norm("norm2", x))
	if b.PostNorms {
		m = b.norm("norm2.post", m)
	}
	return b.residual("mlp.add", m, x)
}

// parallel feeds attention and MLP from the same input (GPT-NeoX, GPT-J).
func (l block) parallel(b *Builder, x Value) Value {
	n1 := b.norm("norm1", x)
	n2 := n1
	if !b.SharedNorm {
		n2 = b.norm("norm2", x)
	}
	a, m := b.attention(n1), b.mlp(n2)
	return b.residual("mlp.add", m, b.residual("attn.add", a, x))
}

// feedForward is the layer's one block, or its experts.
func (l block) feedForward(b *Builder, x Value) Value {
	if l.experts {
		return b.experts(x)
	}
	return b.mlp(x)
}

// mlp is the feed-forward block from its norm's output to its own output.
func (b *Builder) mlp(x Value) Value {
	ffn, width := b.FFN/b.TP, b.FFN/b.TP
	if b.MLP.gated() {
		width *= 2
	}
	up := b.linear(matrix{name: "mlp.fc1", width: width, split: column, bias: b.LinearBias}, x)
	act := b.activation("mlp.act", up, ffn)
	return b.linear(matrix{name: "mlp.fc2", width: b.Hidden, split: row, bias: b.LinearBias}, act)
}
