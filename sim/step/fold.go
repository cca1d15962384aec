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
// A transfer of a representative is one of all members of its class at the same
// time: on every link that it crosses it carries what all of them put there.
type folding struct {
	job            *job.Job
	pipelines      int                   // pipelines with actors
	pipelineOf     []int32               // by class: the pipeline that represents it
	classOf        []int32               // by pipeline: its class
	representative []int32               // by group: the one that represents its class
	ranks          [][]int32             // by group: the actors in it
	classMembers   [][]int32             // by representative: all groups of its class
	crossed        []bool                // by link: crossed by an actor's transfer
	sameLink       []interconnect.LinkID // by link: the crossed link that it equals
	calls          [][]nccl.Call         // by group and collective, of the class; no plan until used
	weight         []float64             // by link; scratch
	touched        []interconnect.LinkID
}

func newFolding(j *job.Job, fold bool) *folding {
	f := &folding{job: j, ranks: make([][]int32, len(j.Groups))}
	if fold {
		f.fold()
		return f
	}
	f.pipelines = j.Config.Parallel.RanksPerStage()
	for g := range j.Groups {
		f.ranks[g] = j.Groups[g].Ranks
	}
	return f
}

// fold finds the classes and their representatives.
func (f *folding) fold() {
	cl := newClasses(f.job)
	cl.refine()
	f.classOf, f.pipelineOf = number(cl.pipeline)
	f.pipelines = len(f.pipelineOf)
	f.representGroups(cl)
	f.calls = make([][]nccl.Call, len(f.job.Groups))
	f.weight = make([]float64, f.job.Topology.Links())
	f.markLinks(cl)
}

// representGroups picks the groups that represent their classes, with their actors.
func (f *folding) representGroups(cl *classes) {
	class, first := number(cl.group)
	f.representative = make([]int32, len(class))
	f.classMembers = make([][]int32, len(class))
	all := int32(f.job.Config.Parallel.RanksPerStage())
	for g := range class {
		r := first[class[g]]
		f.representative[g] = r
		f.classMembers[r] = append(f.classMembers[r], int32(g))
	}
	for _, g := range first {
		for _, r := range f.job.Groups[g].Ranks {
			actor := r/all*int32(f.pipelines) + f.classOf[r%all]
			if !slices.Contains(f.ranks[g], actor) {
				f.ranks[g] = append(f.ranks[g], actor)
			}
		}
	}
}

// markLinks finds the links that actors' transfers cross, and for every other
// link the crossed one that carries the same.
func (f *folding) markLinks(cl *classes) {
	f.crossed = make([]bool, len(f.weight))
	for g, r := range f.representative {
		if int(r) == g {
			gr := &f.job.Groups[g]
			for _, id := range cl.comms[gr.Kind] {
				f.markCrossed(gr.Call(f.job.Compiler.Comms, id))
			}
		}
	}
	for i := range cl.sends {
		if s := &cl.sends[i]; f.pipelineOf[f.classOf[s.pipeline]] == s.pipeline {
			f.markCrossed(s.call)
		}
	}
	f.sameLink = make([]interconnect.LinkID, len(f.weight))
	byColour := make(map[uint64]interconnect.LinkID)
	for l, seen := range f.crossed {
		if _, ok := byColour[cl.link[l]]; seen && !ok {
			byColour[cl.link[l]] = interconnect.LinkID(l)
		}
	}
	for l := range f.sameLink {
		f.sameLink[l] = -1
		if f.crossed[l] {
			f.sameLink[l] = interconnect.LinkID(l)
		} else if same, ok := byColour[cl.link[l]]; ok {
			f.sameLink[l] = same
		}
	}
}

func (f *folding) markCrossed(call nccl.Call) {
	for _, u := range call.Links {
		f.crossed[call.Base+u.Link] = true
	}
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

// folded reports whether some pipelines represent others.
func (f *folding) folded() bool { return f.classOf != nil }

// actors returns how many ranks are simulated.
func (f *folding) actors() int { return f.pipelines * f.job.Config.Parallel.PP }

// rank returns the job's rank that an actor is.
func (f *folding) rank(actor int32) int32 {
	pipeline := actor % int32(f.pipelines)
	if f.folded() {
		pipeline = f.pipelineOf[pipeline]
	}
	return actor/int32(f.pipelines)*int32(f.job.Config.Parallel.RanksPerStage()) + pipeline
}

// actor returns the actor that a rank is, or that represents it.
func (f *folding) actor(rank int32) int32 {
	all := int32(f.job.Config.Parallel.RanksPerStage())
	pipeline := rank % all
	if f.folded() {
		pipeline = f.classOf[pipeline]
	}
	return rank/all*int32(f.pipelines) + pipeline
}

// group returns the group of an actor, -1 if it has none of the kind.
func (f *folding) group(kind model.Group, actor int32) int32 {
	g := f.job.GroupOf[kind][f.rank(actor)]
	if g >= 0 && f.folded() {
		return f.representative[g]
	}
	return g
}

// call returns what a collective of a group puts on the network.
func (f *folding) call(id, comm int32) nccl.Call {
	comms := f.job.Compiler.Comms
	own := f.job.Groups[id].Call(comms, comm)
	if !f.folded() || len(f.classMembers[id]) == 1 {
		return own
	}
	if f.calls[id] == nil {
		f.calls[id] = make([]nccl.Call, len(comms))
	}
	if f.calls[id][comm].Plan == nil {
		for _, g := range f.classMembers[id] {
			f.load(f.job.Groups[g].Call(comms, comm))
		}
		f.calls[id][comm] = f.combined(own)
	}
	return f.calls[id][comm]
}

// send returns the hand-off from an actor to another stage.
func (f *folding) send(from, toStage int32, bytes int64) nccl.Call {
	all := int32(f.job.Config.Parallel.RanksPerStage())
	rank := f.rank(from)
	own := f.sendOf(rank, toStage, bytes)
	if !f.folded() {
		return own
	}
	stage := rank - rank%all
	for pipeline, class := range f.classOf {
		if class == from%int32(f.pipelines) {
			f.load(f.sendOf(stage+int32(pipeline), toStage, bytes))
		}
	}
	return f.combined(own)
}

func (f *folding) sendOf(rank, toStage int32, bytes int64) nccl.Call {
	all := int32(f.job.Config.Parallel.RanksPerStage())
	return f.job.NCCL.Send(int(rank), int(toStage*all+rank%all), bytes)
}

// load adds what a call puts on the crossed links.
func (f *folding) load(call nccl.Call) {
	for _, u := range call.Links {
		l := call.Base + u.Link
		if !f.crossed[l] {
			continue
		}
		if f.weight[l] == 0 {
			f.touched = append(f.touched, l)
		}
		f.weight[l] += u.Weight
	}
}

// combined returns a call under the loads added since the last one.
func (f *folding) combined(own nccl.Call) nccl.Call {
	slices.Sort(f.touched)
	links := make([]interconnect.LinkUse, len(f.touched))
	for i, l := range f.touched {
		links[i] = interconnect.LinkUse{Link: l, Weight: f.weight[l]}
		f.weight[l] = 0
	}
	f.touched = f.touched[:0]
	return own.Over(f.job.Topology, links)
}
