package step

import (
	"slices"

	"trainsim/interconnect"
	"trainsim/interconnect/nccl"
	"trainsim/sim/job"
	"trainsim/sim/model"
)

// folding says which ranks of a job are actors of a machine: all of them, or one
// pipeline of every class of pipelines that cannot differ (see classes).
//
// A transfer of the classes stands for those of all their members at the same
// time: on every link that an actor's transfer crosses it carries what all of
// them put there.
type folding struct {
	job            *job.Job
	pipelines      int                   // pipelines with actors
	pipelineOf     []int32               // by class: the pipeline that stands for it
	classOf        []int32               // by pipeline
	representative []int32               // by group: the group that stands for its class
	ranks          [][]int32             // by group: the actors in it
	classMembers   [][]int32             // by standing group: all groups of its class
	seen           []bool                // by link: crossed by an actor's transfer
	sameLink       []interconnect.LinkID // by link: the crossed link that it equals
	calls          [][]nccl.Call         // by group and collective, of the class; no plan until used
	weight         []float64             // by link; scratch
	touched        []interconnect.LinkID
}

func newFolding(j *job.Job, fold bool) *folding {
	c := &folding{job: j, ranks: make([][]int32, len(j.Groups))}
	if fold {
		c.fold()
		return c
	}
	c.pipelines = j.Config.Parallel.RanksPerStage()
	for g := range j.Groups {
		c.ranks[g] = j.Groups[g].Ranks
	}
	return c
}

func (c *folding) folded() bool { return c.classOf != nil }

// fold finds the classes and who stands for them.
func (c *folding) fold() {
	cl := newClasses(c.job)
	cl.refine()
	c.classOf, c.pipelineOf = number(cl.pipeline)
	c.pipelines = len(c.pipelineOf)
	c.representGroups(cl)
	c.calls = make([][]nccl.Call, len(c.job.Groups))
	c.weight = make([]float64, c.job.Topology.Links())
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

// representGroups picks the groups that stand for their classes, with their actors.
func (c *folding) representGroups(cl *classes) {
	class, first := number(cl.group)
	c.representative = make([]int32, len(class))
	c.classMembers = make([][]int32, len(class))
	all := int32(c.job.Config.Parallel.RanksPerStage())
	for g := range class {
		stand := first[class[g]]
		c.representative[g] = stand
		c.classMembers[stand] = append(c.classMembers[stand], int32(g))
	}
	for _, stand := range first {
		for _, r := range c.job.Groups[stand].Ranks {
			actor := r/all*int32(c.pipelines) + c.classOf[r%all]
			if !slices.Contains(c.ranks[stand], actor) {
				c.ranks[stand] = append(c.ranks[stand], actor)
			}
		}
	}
}

// markLinks finds the links that actors' transfers cross, and for every other
// link the crossed one that carries the same.
func (c *folding) markLinks(cl *classes) {
	c.seen = make([]bool, len(c.weight))
	for g, stand := range c.representative {
		if int(stand) == g {
			gr := &c.job.Groups[g]
			for _, id := range cl.comms[gr.Kind] {
				c.see(gr.Call(c.job.Compiler.Comms, id))
			}
		}
	}
	for i := range cl.sends {
		if s := &cl.sends[i]; c.pipelineOf[c.classOf[s.pipeline]] == s.pipeline {
			c.see(s.call)
		}
	}
	c.sameLink = make([]interconnect.LinkID, len(c.weight))
	byColour := make(map[uint64]interconnect.LinkID)
	for l, seen := range c.seen {
		if _, ok := byColour[cl.link[l]]; seen && !ok {
			byColour[cl.link[l]] = interconnect.LinkID(l)
		}
	}
	for l := range c.sameLink {
		c.sameLink[l] = -1
		if c.seen[l] {
			c.sameLink[l] = interconnect.LinkID(l)
		} else if same, ok := byColour[cl.link[l]]; ok {
			c.sameLink[l] = same
		}
	}
}

func (c *folding) see(call nccl.Call) {
	for _, u := range call.Links {
		c.seen[call.Base+u.Link] = true
	}
}

// actors returns how many ranks are simulated.
func (c *folding) actors() int { return c.pipelines * c.job.Config.Parallel.PP }

// rank returns the job's rank that an actor is.
func (c *folding) rank(actor int32) int32 {
	column := actor % int32(c.pipelines)
	if c.folded() {
		column = c.pipelineOf[column]
	}
	return actor/int32(c.pipelines)*int32(c.job.Config.Parallel.RanksPerStage()) + column
}

// actor returns the actor that a rank is, or that stands for it.
func (c *folding) actor(rank int32) int32 {
	all := int32(c.job.Config.Parallel.RanksPerStage())
	column := rank % all
	if c.folded() {
		column = c.classOf[column]
	}
	return rank/all*int32(c.pipelines) + column
}

// group returns the group of an actor, -1 if it has none of the kind.
func (c *folding) group(kind model.Group, actor int32) int32 {
	g := c.job.GroupOf[kind][c.rank(actor)]
	if g >= 0 && c.folded() {
		return c.representative[g]
	}
	return g
}

// call returns what a collective of a group puts on the network.
func (c *folding) call(id, comm int32) nccl.Call {
	comms := c.job.Compiler.Comms
	own := c.job.Groups[id].Call(comms, comm)
	if !c.folded() || len(c.classMembers[id]) == 1 {
		return own
	}
	if c.calls[id] == nil {
		c.calls[id] = make([]nccl.Call, len(comms))
	}
	if c.calls[id][comm].Plan == nil {
		for _, g := range c.classMembers[id] {
			c.load(c.job.Groups[g].Call(comms, comm))
		}
		c.calls[id][comm] = c.combined(own)
	}
	return c.calls[id][comm]
}

// send returns the hand-off from an actor to another stage.
func (c *folding) send(from, toStage int32, bytes int64) nccl.Call {
	all := int32(c.job.Config.Parallel.RanksPerStage())
	rank := c.rank(from)
	own := c.sendOf(rank, toStage, bytes)
	if !c.folded() {
		return own
	}
	stage := rank - rank%all
	for column, class := range c.classOf {
		if class == from%int32(c.pipelines) {
			c.load(c.sendOf(stage+int32(column), toStage, bytes))
		}
	}
	return c.combined(own)
}

func (c *folding) sendOf(rank, toStage int32, bytes int64) nccl.Call {
	all := int32(c.job.Config.Parallel.RanksPerStage())
	return c.job.NCCL.Send(int(rank), int(toStage*all+rank%all), bytes)
}

// load adds what a call puts on the crossed links.
func (c *folding) load(call nccl.Call) {
	for _, u := range call.Links {
		l := call.Base + u.Link
		if !c.seen[l] {
			continue
		}
		if c.weight[l] == 0 {
			c.touched = append(c.touched, l)
		}
		c.weight[l] += u.Weight
	}
}

// combined returns a call under the loads added since the last one.
func (c *folding) combined(own nccl.Call) nccl.Call {
	slices.Sort(c.touched)
	links := make([]interconnect.LinkUse, len(c.touched))
	for i, l := range c.touched {
		links[i] = interconnect.LinkUse{Link: l, Weight: c.weight[l]}
		c.weight[l] = 0
	}
	c.touched = c.touched[:0]
	return own.Over(c.job.Topology, links)
}
