package job

import (
	"slices"

	"trainsim/interconnect/nccl"
	"trainsim/schedule"
	"trainsim/sim/gpu"
	"trainsim/sim/model"
)

// Group is one communicator's ranks with a plan for each collective that it runs.
type Group struct {
	Kind  model.Group
	Ranks []int32
	Comm  *nccl.Communicator
	plans *plans // those of all groups alike
}

// plans are those of a communicator's collectives, by number; nil until used.
type plans struct {
	list []*nccl.Plan
}

// buildGroups makes the communicators.
func (j *Job) buildGroups() error {
	for k := range j.GroupOf {
		j.GroupOf[k] = make([]int32, j.Ranks())
		for r := range j.GroupOf[k] {
			j.GroupOf[k][r] = -1
		}
	}
	for _, kind := range []model.Group{
		model.TP, model.CP, model.EP, model.DP, model.ExpertDP, model.Copies, model.Embedding, model.World,
		model.Amax,
	} {
		if err := j.addGroups(kind); err != nil {
			return err
		}
	}
	return nil
}

// addGroups partitions the ranks by what the members of a group share.
func (j *Job) addGroups(kind model.Group) error {
	if !j.hasGroups(kind) {
		return nil
	}
	ids := make(map[Coord]int32)
	var sizes []int32
	group := make([]int32, j.Ranks()) // by rank; -1: none
	for r := range group {
		key, ok := j.groupKey(kind, r)
		if group[r] = -1; !ok {
			continue
		}
		id, known := ids[key]
		if !known {
			id = int32(len(sizes))
			ids[key] = id
			sizes = append(sizes, 0)
		}
		group[r] = id
		sizes[id]++
	}
	members := make([][]int32, len(sizes))
	for id, n := range sizes {
		members[id] = make([]int32, 0, n)
	}
	for r, id := range group {
		if id >= 0 {
			members[id] = append(members[id], int32(r))
		}
	}
	for _, ranks := range members {
		if err := j.addGroup(kind, ranks); err != nil {
			return err
		}
	}
	return nil
}

// hasGroups reports whether the job has communicators of a kind.
func (j *Job) hasGroups(kind model.Group) bool {
	switch kind {
	case model.EP, model.ExpertDP:
		return slices.Contains(j.Spec.Shardings(), model.ByExpert)
	case model.Copies:
		return j.Config.hybrid()
	case model.Amax:
		return j.Spec.Precision == gpu.FP8
	}
	return true
}

// groupKey returns what the members of a rank's group share; ok is false for ranks
// in none.
func (j *Job) groupKey(kind model.Group, rank int) (key Coord, ok bool) {
	at := j.Config.Parallel.Coord(rank)
	key = at
	switch kind {
	case model.TP:
		key.TP = 0
	case model.CP:
		key.CP = 0
	case model.EP, model.ExpertDP:
		key = j.expertKey(kind, rank, at.PP)
	case model.DP:
		key.DP, key.CP, key.PP = 0, 0, j.replicated(at.PP)
		if j.Config.hybrid() {
			key.DP = at.DP / j.Config.Parallel.FSDPGroup
		}
	case model.Copies:
		key.DP, key.PP = at.DP%j.Config.Parallel.FSDPGroup, j.replicated(at.PP)
	case model.Embedding:
		if first, last := j.ends(); at.PP != first && at.PP != last {
			return key, false
		}
		key.PP = 0
	case model.World:
		key.TP, key.PP = 0, 0
	case model.Amax:
		key.TP, key.CP, key.DP = 0, 0, 0
	}
	return key, true
}

// replicated returns what ranks of the same weights share: the pipeline rank, of
// which a bidirectional pipeline holds each of two stages twice.
func (j *Job) replicated(pp int) int {
	if j.Program.Placement == schedule.Bidirectional {
		return min(pp, j.Config.Parallel.PP-1-pp)
	}
	return pp
}

// expertKey is what the members of an expert's group share: those that trade
// tokens, or those that hold the same experts.
func (j *Job) expertKey(kind model.Group, rank, pp int) Coord {
	at := j.Config.Parallel.expertCoord(rank)
	if kind == model.EP {
		return Coord{TP: at.TP, DP: at.DP, PP: pp}
	}
	return Coord{TP: at.TP, CP: at.EP, PP: j.replicated(pp)}
}

func (j *Job) addGroup(kind model.Group, ranks []int32) error {
	if len(ranks) < 2 {
		return nil
	}
	devices := make([]int, len(ranks))
	for i, r := range ranks {
		devices[i] = int(r)
	}
	c, err := j.NCCL.Communicator(nccl.AllReduce, devices)
	if err != nil {
		return err
	}
	for _, r := range ranks {
		j.GroupOf[kind][r] = int32(len(j.Groups))
	}
	j.Groups = append(j.Groups, Group{Kind: kind, Ranks: ranks, Comm: c, plans: j.plansOf(c)})
	return nil
}

// plansOf returns the plans of a communicator, the same for those that are alike.
func (j *Job) plansOf(c *nccl.Communicator) *plans {
	if j.plans == nil {
		j.plans = make(map[nccl.Shape]*plans)
	}
	p := j.plans[c.Shape()]
	if p == nil {
		p = &plans{}
		j.plans[c.Shape()] = p
	}
	return p
}

// Plan returns the plan of a collective, which groups that are alike share.
func (g *Group) Plan(comms []model.Comm, id int32) *nccl.Plan {
	p := g.plans
	if len(p.list) < len(comms) {
		p.list = append(p.list, make([]*nccl.Plan, len(comms)-len(p.list))...)
	}
	if p.list[id] == nil {
		p.list[id] = g.Comm.Plan(NetOps[comms[id].Collective], comms[id].Bytes)
	}
	return p.list[id]
}

// Call returns a collective of the group on the network.
func (g *Group) Call(comms []model.Comm, id int32) nccl.Call {
	return nccl.Call{Plan: g.Plan(comms, id), Base: g.Comm.Base()}
}

// NetOps maps the collectives of models to those of the network.
var NetOps = map[model.Collective]nccl.Op{
	model.AllReduce: nccl.AllReduce, model.AllGather: nccl.AllGather,
	model.ReduceScatter: nccl.ReduceScatter, model.AllToAll: nccl.AllToAll,
	model.SendRecv: nccl.SendRecv,
}

// hasWorldGroup reports whether a replica spans more than one rank.
func (j *Job) hasWorldGroup() bool { return j.Config.Parallel.TP*j.Config.Parallel.PP > 1 }
