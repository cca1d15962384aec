package account

import (
	"trainsim/interconnect/nccl"
	"trainsim/sim/job"
	"trainsim/sim/model"
)

// contextBytes is the CUDA context with its kernels: the GPU's, or that of the
// framework's time where it is larger.
func contextBytes(j *job.Job) int64 {
	return int64(max(j.Config.GPU.ContextBytes, j.Config.Framework.Context))
}

// ncclBytes is what the communicators of a stage's first rank hold: those of
// its groups, for the operations that run on them, and that of the pipeline.
func ncclBytes(j *job.Job, stage int) int64 {
	rank := stage * j.Config.Parallel.RanksPerStage()
	var sum int64
	if j.Config.Framework.EagerCommunicators {
		return eagerBytes(j, rank)
	}
	for kind := range model.NumGroups {
		if id := j.GroupOf[kind]; id != nil && id[rank] >= 0 {
			sum += j.Groups[id[rank]].Comm.MemoryBytes(operations(j, kind)...)
		}
	}
	return sum + pipelineBytes(j, stage)
}

// pipelineBytes is what sending to and receiving from the neighbouring stages
// takes: connections to each on the node, one pool for all others.
func pipelineBytes(j *job.Job, stage int) int64 {
	p := &j.Config.Parallel
	var local, pool int64
	for _, other := range []int{stage - 1, stage + 1} {
		if other < 0 || other >= p.PP {
			continue
		}
		a, b := stage*p.RanksPerStage(), other*p.RanksPerStage()
		c, err := j.NCCL.Communicator(nccl.AllReduce, []int{a, b})
		if err != nil {
			continue
		}
		bytes := c.MemoryBytes(nccl.SendRecv)
		if j.Topology.DomainOf(a) == j.Topology.DomainOf(b) {
			local += bytes
		} else {
			pool = max(pool, bytes)
		}
	}
	return local + pool
}

// eagerBytes is what communicators that connect at once hold: NCCL before
// 2.2x connected rings and trees of each at its start, a tree's reverse
// direction adding half of a ring. Beside the groups that train there are the
// whole job's, the pipeline's and one for each pair of neighbouring stages.
func eagerBytes(j *job.Job, rank int) int64 {
	var sum int64
	add := func(c *nccl.Communicator) {
		ring := c.MemoryBytes(nccl.AllReduce)
		sum += ring + ring/2
	}
	for kind := range model.NumGroups {
		if id := j.GroupOf[kind]; id != nil && id[rank] >= 0 {
			add(j.Groups[id[rank]].Comm)
		}
	}
	for _, devices := range moreGroups(j, rank) {
		if c, err := j.NCCL.Communicator(nccl.AllReduce, devices); err == nil {
			add(c)
		}
	}
	return sum
}

// moreGroups lists the devices of a rank's groups that only start-up and the
// pipeline use.
func moreGroups(j *job.Job, rank int) [][]int {
	perStage := j.Config.Parallel.RanksPerStage()
	all, pipe := make([]int, j.Ranks()), make([]int, j.Config.Parallel.PP)
	for i := range all {
		all[i] = i
	}
	for s := range pipe {
		pipe[s] = rank%perStage + s*perStage
	}
	out := [][]int{all}
	if len(pipe) > 1 {
		out = append(out, pipe)
	}
	for s := range len(pipe) - 1 {
		if pipe[s] == rank || pipe[s+1] == rank {
			out = append(out, pipe[s:s+2])
		}
	}
	return out
}

// operations lists the distinct collectives that run on groups of a kind.
func operations(j *job.Job, kind model.Group) []nccl.Op {
	var out []nccl.Op
	for i := range j.Compiler.Comms {
		c := &j.Compiler.Comms[i]
		if c.Group == kind {
			out = append(out, job.NetOps[c.Collective])
		}
	}
	return out
}
