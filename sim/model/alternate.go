package model

// kept is what a layer's forward keeps for its recomputation under alternate
// checkpointing, in order; products counts the matrix products met so far.
type kept struct {
	values   []value
	products int
}

// savesProduct reports whether the results of the product at hand are kept:
// those of the first of every two.
func (b *builder) savesProduct() bool {
	if !b.savesAttention() {
		return false
	}
	b.kept.products++
	return b.kept.products%2 == 1
}

// savesAttention reports whether the results of the fused attention are kept.
func (b *builder) savesAttention() bool {
	return b.Checkpointing.Alternate && (b.phase == Forward || b.phase == Recompute)
}

// save keeps results for the recomputation.
func (b *builder) save(vs ...value) { b.kept.values = append(b.kept.values, vs...) }

// recall takes the next saved result.
func (b *builder) recall() value {
	v := b.kept.values[0]
	b.kept.values = b.kept.values[1:]
	return v
}
