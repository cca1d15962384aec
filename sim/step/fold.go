package step

import (
	"trainsim/interconnect"
	"trainsim/sim"
	"trainsim/sim/model"
)

// Ranks of one pipeline rank run the same script on the same amounts of data.
// They differ only in the links that they use, so that one of them can stand
// for all: a folded machine simulates the first pipeline and lets each of its
// transfers load the links with what its peers put there at the same time.
// Where peers are not equally fast, the slowest decides, as it does for ranks
// that wait for each other in every step.

// crew says which ranks of a job are actors of a machine.
type crew struct {
	job     *Job
	columns int       // actors of a pipeline rank
	members [][]int32 // by group: the actors in it
	plans   [][]*interconnect.Plan
	load    []float64 // by link; scratch of together
}

func newCrew(j *Job, fold bool) *crew {
	c := &crew{job: j, columns: j.Config.Parallel.columns(), members: make([][]int32, len(j.groups))}
	if fold {
		c.columns = 1
		c.plans = make([][]*interconnect.Plan, len(j.groups))
		c.load = make([]float64, len(j.Topology.Links()))
	}
	for g := range j.groups {
		if !fold {
			c.members[g] = j.groups[g].ranks
			continue
		}
		for _, r := range j.groups[g].ranks {
			if int(r)%j.Config.Parallel.columns() == 0 {
				c.members[g] = append(c.members[g], r/int32(j.Config.Parallel.columns()))
			}
		}
	}
	return c
}

func (c *crew) folded() bool { return c.plans != nil }

// actors returns how many ranks are simulated.
func (c *crew) actors() int { return c.columns * c.job.Config.Parallel.PP }

// rank returns the job's rank that an actor is.
func (c *crew) rank(actor int32) int32 {
	columns := int32(c.columns)
	return actor/columns*int32(c.job.Config.Parallel.columns()) + actor%columns
}

// group returns the group of an actor, -1 if it has none of the kind.
func (c *crew) group(kind model.Group, actor int32) int32 { return c.job.groupOf[kind][c.rank(actor)] }

// plan returns what a collective of a group puts on the network.
func (c *crew) plan(id, comm int32) *interconnect.Plan {
	comms := c.job.compiler.comms
	if !c.folded() {
		return c.job.groups[id].plan(comms, comm)
	}
	if c.plans[id] == nil {
		c.plans[id] = make([]*interconnect.Plan, len(comms))
	}
	if c.plans[id][comm] == nil {
		var peers []*interconnect.Plan
		for _, g := range c.peers(id) {
			peers = append(peers, g.plan(comms, comm))
		}
		c.plans[id][comm] = c.together(peers)
	}
	return c.plans[id][comm]
}

// peers returns the groups that do the same as a group at the same time: those
// of its kind on the same stages.
func (c *crew) peers(id int32) []*group {
	columns := int32(c.job.Config.Parallel.columns())
	g := &c.job.groups[id]
	var out []*group
	for i := range c.job.groups {
		if p := &c.job.groups[i]; p.kind == g.kind && p.ranks[0]/columns == g.ranks[0]/columns {
			out = append(out, p)
		}
	}
	return out
}

// sendPlan returns the plan of a hand-off from an actor to another stage.
func (c *crew) sendPlan(from, toStage int32, bytes int64) *interconnect.Plan {
	columns := int32(c.job.Config.Parallel.columns())
	first, n := c.rank(from), int32(1)
	if c.folded() {
		n = columns
	}
	plans := make([]*interconnect.Plan, n)
	for i := range n {
		r := first + i
		p := c.job.Topology.SendPlan(int(r), int(toStage*columns+r%columns), bytes, c.job.Config.NCCL)
		plans[i] = &p
	}
	if n == 1 {
		return plans[0]
	}
	return c.together(plans)
}

// together returns the slowest of the plans under the load of all.
func (c *crew) together(plans []*interconnect.Plan) *interconnect.Plan {
	for _, p := range plans {
		for _, u := range p.Links {
			c.load[u.Link] += float64(float64(p.Bytes) * u.Weight)
		}
	}
	slowest, longest := 0, sim.Time(-1)
	var out interconnect.Plan
	for i, p := range plans {
		loaded := c.loaded(p)
		if t := loaded.Uncontended(c.job.Topology); t > longest {
			slowest, longest, out = i, t, loaded
		}
	}
	for _, p := range plans {
		for _, u := range p.Links {
			c.load[u.Link] = 0
		}
	}
	p := plans[slowest]
	out.Op, out.Algorithm, out.Protocol, out.Channels = p.Op, p.Algorithm, p.Protocol, p.Channels
	out.Message, out.BusFactor = p.Message, p.BusFactor
	return &out
}

// loaded returns a plan that puts all of the load on its links.
func (c *crew) loaded(p *interconnect.Plan) interconnect.Plan {
	if p.Bytes == 0 {
		return *p
	}
	links := make([]interconnect.LinkUse, len(p.Links))
	for i, u := range p.Links {
		links[i] = interconnect.LinkUse{Link: u.Link, Weight: c.load[u.Link] / float64(p.Bytes)}
	}
	return c.job.Topology.Custom(p.Latency, p.Bytes, p.Cap, links)
}
