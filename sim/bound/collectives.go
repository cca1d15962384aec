package bound

import (
	"trainsim/interconnect"
	"trainsim/interconnect/nccl"
	"trainsim/sim"
	"trainsim/sim/job"
	"trainsim/sim/model"
)

// clusterBound times tensor-parallel collectives on a cluster.
type clusterBound struct {
	nccl    *nccl.Library
	perNode int
	groups  map[int][]*nccl.Communicator // by tp: those of the first node
	times   map[commOf]sim.Time
}

type commOf struct {
	tp   int
	comm model.Comm
}

// cluster returns the timing of collectives on a job's cluster.
func (b *Bounder) cluster(c *job.Config) (*clusterBound, error) {
	if k, ok := b.clusters[c.Cluster.Nodes]; ok {
		return k, nil
	}
	t, err := interconnect.Build(c.Cluster)
	if err != nil {
		return nil, err
	}
	lib, err := nccl.New(t, c.NCCL)
	if err != nil {
		return nil, err
	}
	perNode := t.Devices() / t.Domains()
	if t.Devices()%t.Domains() != 0 {
		perNode = t.Devices() / t.Nodes()
	}
	k := &clusterBound{nccl: lib, perNode: perNode,
		groups: make(map[int][]*nccl.Communicator), times: make(map[commOf]sim.Time)}
	b.clusters[c.Cluster.Nodes] = k
	return k, nil
}

// time returns the least that a collective takes in any tensor-parallel group.
// Groups are consecutive ranks and nodes are alike, so that those of the first
// node stand for all; nothing is known of groups that leave their node.
func (k *clusterBound) time(tp int, c model.Comm) sim.Time {
	key := commOf{tp, c}
	if t, ok := k.times[key]; ok {
		return t
	}
	least := sim.Forever
	for _, comm := range k.communicators(tp) {
		p := comm.Plan(job.NetOps[c.Collective], c.Bytes)
		least = min(least, p.Uncontended())
	}
	if least == sim.Forever {
		least = 0
	}
	k.times[key] = least
	return least
}

func (k *clusterBound) communicators(tp int) []*nccl.Communicator {
	if list, ok := k.groups[tp]; ok || tp < 2 || k.perNode%tp != 0 {
		return list
	}
	var list []*nccl.Communicator
	for first := 0; first < k.perNode; first += tp {
		devices := make([]int, tp)
		for i := range devices {
			devices[i] = first + i
		}
		c, err := k.nccl.Communicator(nccl.AllReduce, devices)
		if err != nil {
			return nil
		}
		list = append(list, c)
	}
	k.groups[tp] = list
	return list
}
