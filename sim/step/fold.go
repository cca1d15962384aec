package step

import (
	"slices"

	"trainsim/interconnect"
	"trainsim/interconnect/nccl"
	"trainsim/sim/model"
)

// crew says which ranks of a job are actors of a machine: all of them, or one
// pipeline of every class of pipelines that cannot differ (see classes).
//
// A transfer of the classes stands for those of all their members at the same
// time: on every link that an actor's transfer crosses it carries what all of
// them put there.
type crew struct {
	job     *Job
	columns int                   // pipelines with actors
	reps    []int32               // by class: the pipeline that stands for it
	classOf []int32               // by pipeline
	canon   []int32               // by group: the group that stands for its class
	members [][]int32             // by group: the actors in it
	alike   [][]int32             // by standing group: all groups of its class
	seen    []bool                // by link: crossed by an actor's transfer
	shown   []interconnect.LinkID // by link: the crossed link that it equals
	plans   [][]*nccl.Plan
	weight  []float64 // by link; scratch
	touched []interconnect.LinkID
}

func newCrew(j *Job, fold bool) *crew {
	c := &crew{job: j, members: make([][]int32, len(j.groups))}
	if fold {
		c.fold()
		return c
	}
	c.columns = j.Config.Parallel.columns()
	for g := range j.groups {
		c.members[g] = j.groups[g].ranks
	}
	return c
}

func (c *crew) folded() bool { return c.classOf != nil }

// fold finds the classes and who stands for them.
func (c *crew) fold() {
	cl := newClasses(c.job)
	cl.refine()
	c.classOf, c.reps = number(cl.column)
	c.columns = len(c.reps)
	c.standIns(cl)
	c.plans = make([][]*nccl.Plan, len(c.job.groups))
	c.weight = make([]float64, len(c.job.Topology.Links()))
	c.markLinks(cl)
}

// number turns colours into class numbers, in order of appearance, and returns
// the first member of each class.
func number(colours []uint64) (class, first []int32) {
	class = make([]int32, len(colours))
	ids := make(map[uint64]int32)
	for i, x := range colours {
		id, ok := ids[x]
		if !ok {
			id = int32(len(first))
			ids[x] = id
			first = append(first, int32(i))
		}
		class[i] = id
	}
	return class, first
}

// standIns picks the groups that stand for their classes, with their actors.
func (c *crew) standIns(cl *classes) {
	class, first := number(cl.group)
	c.canon = make([]int32, len(class))
	c.alike = make([][]int32, len(class))
	all := int32(c.job.Config.Parallel.columns())
	for g := range class {
		stand := first[class[g]]
		c.canon[g] = stand
		c.alike[stand] = append(c.alike[stand], int32(g))
	}
	for _, stand := range first {
		for _, r := range c.job.groups[stand].ranks {
			actor := r/all*int32(c.columns) + c.classOf[r%all]
			if !slices.Contains(c.members[stand], actor) {
				c.members[stand] = append(c.members[stand], actor)
			}
		}
	}
}

// markLinks finds the links that actors' transfers cross, and for every other
// link the crossed one that carries the same.
func (c *crew) markLinks(cl *classes) {
	c.seen = make([]bool, len(c.weight))
	for g, stand := range c.canon {
		if int(stand) == g {
			for _, p := range cl.groupPlans[g] {
				c.see(p)
			}
		}
	}
	for i := range cl.sends {
		if s := &cl.sends[i]; c.reps[c.classOf[s.column]] == s.column {
			c.see(s.plan)
		}
	}
	c.shown = make([]interconnect.LinkID, len(c.weight))
	byColour := make(map[uint64]interconnect.LinkID)
	for l, seen := range c.seen {
		if _, ok := byColour[cl.link[l]]; seen && !ok {
			byColour[cl.link[l]] = interconnect.LinkID(l)
		}
	}
	for l := range c.shown {
		c.shown[l] = -1
		if c.seen[l] {
			c.shown[l] = interconnect.LinkID(l)
		} else if same, ok := byColour[cl.link[l]]; ok {
			c.shown[l] = same
		}
	}
}

func (c *crew) see(p *nccl.Plan) {
	for _, u := range p.Links {
		c.seen[u.Link] = true
	}
}

// actors returns how many ranks are simulated.
func (c *crew) actors() int { return c.columns * c.job.Config.Parallel.PP }

// rank returns the job's rank that an actor is.
func (c *crew) rank(actor int32) int32 {
	column := actor % int32(c.columns)
	if c.folded() {
		column = c.reps[column]
	}
	return actor/int32(c.columns)*int32(c.job.Config.Parallel.columns()) + column
}

// actor returns the actor that a rank is, or that stands for it.
func (c *crew) actor(rank int32) int32 {
	all := int32(c.job.Config.Parallel.columns())
	column := rank % all
	if c.folded() {
		column = c.classOf[column]
	}
	return rank/all*int32(c.columns) + column
}

// group returns the group of an actor, -1 if it has none of the kind.
func (c *crew) group(kind model.Group, actor int32) int32 {
	g := c.job.groupOf[kind][c.rank(actor)]
	if g >= 0 && c.folded() {
		return c.canon[g]
	}
	return g
}

// plan returns what a collective of a group puts on the network.
func (c *crew) plan(id, comm int32) *nccl.Plan {
	comms := c.job.compiler.comms
	own := c.job.groups[id].plan(comms, comm)
	if !c.folded() || len(c.alike[id]) == 1 {
		return own
	}
	if c.plans[id] == nil {
		c.plans[id] = make([]*nccl.Plan, len(comms))
	}
	if c.plans[id][comm] == nil {
		for _, g := range c.alike[id] {
			c.load(c.job.groups[g].plan(comms, comm))
		}
		c.plans[id][comm] = c.together(own)
	}
	return c.plans[id][comm]
}

// sendPlan returns the plan of a hand-off from an actor to another stage.
func (c *crew) sendPlan(from, toStage int32, bytes int64) *nccl.Plan {
	all := int32(c.job.Config.Parallel.columns())
	rank := c.rank(from)
	own := c.send(rank, toStage, bytes)
	if !c.folded() {
		return own
	}
	stage := rank - rank%all
	for column, class := range c.classOf {
		if class == from%int32(c.columns) {
			c.load(c.send(stage+int32(column), toStage, bytes))
		}
	}
	return c.together(own)
}

func (c *crew) send(rank, toStage int32, bytes int64) *nccl.Plan {
	all := int32(c.job.Config.Parallel.columns())
	p := c.job.nccl.Send(int(rank), int(toStage*all+rank%all), bytes)
	return &p
}

// load adds what a plan puts on the crossed links.
func (c *crew) load(p *nccl.Plan) {
	for _, u := range p.Links {
		if !c.seen[u.Link] {
			continue
		}
		if c.weight[u.Link] == 0 {
			c.touched = append(c.touched, u.Link)
		}
		c.weight[u.Link] += u.Weight
	}
}

// together returns a plan under the loads added since the last call.
func (c *crew) together(own *nccl.Plan) *nccl.Plan {
	slices.Sort(c.touched)
	links := make([]interconnect.LinkUse, len(c.touched))
	for i, l := range c.touched {
		links[i] = interconnect.LinkUse{Link: l, Weight: c.weight[l]}
		c.weight[l] = 0
	}
	c.touched = c.touched[:0]
	p := own.Over(c.job.Topology, links)
	return &p
}
