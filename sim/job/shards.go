package job

// hybrid reports whether a shard spans some of the replicas only, so that others
// hold copies of it (PyTorch's HYBRID_SHARD).
func (c *Config) hybrid() bool {
	g := c.Parallel.FSDPGroup
	return c.Parallel.ZeRO >= 2 && g > 1 && g < c.Parallel.DP
}

// Shards returns over how many ranks ZeRO spreads what it shards, those of
// context parallelism among them.
func (c *Config) Shards() int64 {
	if c.hybrid() {
		return int64(c.Parallel.FSDPGroup * c.Parallel.CP)
	}
	return int64(c.Parallel.DP * c.Parallel.CP)
}

// GathersOnce reports whether FSDP gathers a stage's parameters once a step, in
// its first forward, and reduces its gradients in its last backward. In a
// pipeline anything else would move the whole stage for every micro-batch:
// torchtitan does not reshard there and synchronises with the last one alone
// (apply_fsdp and _build_pipeline_schedule). In between, gradients add up
// unsharded in the format of the reduction, as FSDP2 keeps them.
func (c *Config) GathersOnce() bool {
	return c.Parallel.ZeRO >= 2 && c.Parallel.PP > 1 && c.Shards() > 1
}
