package model

// Complete fills in the widths and names that follow from others where they are
// not given (0 or empty).
func (c *Config) Complete() {
	if c.Name == "" {
		c.Name = "custom"
	}
	if c.KVHeads == 0 {
		c.KVHeads = c.Heads
	}
	if c.HeadDim == 0 && c.Heads > 0 && c.Hidden%c.Heads == 0 {
		c.HeadDim = c.Hidden / c.Heads
	}
	if c.FFN == 0 && !c.MLP.Gated() {
		c.FFN = 4 * c.Hidden
	}
	if c.MaxPositions == 0 && c.Position == Learned {
		c.MaxPositions = c.SeqLen
	}
	if c.Experts > 0 && c.ExpertFFN == 0 {
		c.ExpertFFN = c.FFN
	}
	if c.KVLoraRank > 0 && c.VHeadDim == 0 {
		c.VHeadDim = c.HeadDim
	}
	if c.EmbeddingWidth == 0 {
		c.EmbeddingWidth = c.Hidden
	}
}
