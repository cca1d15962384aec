package step

import (
	"math"

	"trainsim/interconnect"
	"trainsim/interconnect/nccl"
	"trainsim/schedule"
	"trainsim/sim/job"
	"trainsim/sim/model"
)

// classes partitions the pipelines that run side by side (one rank of every
// pipeline rank each), the groups and the links so that members of a class
// cannot differ: pipelines in groups of the same classes, groups of pipelines
// and links of the same classes with the same plans, links of the same capacity
// crossed by the same classes of transfers. All run the same script, so that
// they do the same at the same time, and sharing by max-min fairness gives
// equal rates to equal transfers. The coarsest such partition comes from
// colours that are refined by their neighbours' colours until none splits.
type classes struct {
	job      *job.Job
	pipeline []uint64 // colour of each pipeline
	group    []uint64
	link     []uint64
	fixed    []uint64 // by group: what does not change
	// comms are the collectives of each kind of group, by number.
	comms [model.NumGroups][]int32
	sends []sendClass
}

// sendClass is the hand-off of one pipeline between two stages.
type sendClass struct {
	pipeline int32
	fixed    uint64
	colour   uint64
	call     nccl.Call
}

func newClasses(j *job.Job) *classes {
	cl := &classes{job: j, pipeline: make(
		[]uint64, j.Config.Parallel.RanksPerStage(),
	), group: make([]uint64, len(j.Groups)),
		link: make([]uint64, j.Topology.Links()), fixed: make([]uint64, len(j.Groups))}
	for i := range cl.link {
		cl.link[i] = math.Float64bits(j.Topology.Capacity(interconnect.LinkID(i)))
	}
	for id, c := range j.Compiler.Comms {
		cl.comms[c.Group] = append(cl.comms[c.Group], int32(id))
	}
	cl.colourFaults()
	if j.Dynamic() { // replicas have sequences of their own
		for c := range cl.pipeline {
			cl.pipeline[c] += mix(7, uint64(j.Config.Parallel.Coord(c).DP))
		}
	}
	pipelines := int32(len(cl.pipeline))
	for g := range j.Groups {
		gr := &j.Groups[g]
		f := mix(uint64(gr.Kind), uint64(len(gr.Ranks)))
		for _, r := range gr.Ranks {
			f += mix(1, uint64(r/pipelines))
		}
		for _, id := range cl.comms[gr.Kind] {
			f = mix(f, planColour(gr.Plan(j.Compiler.Comms, id)))
		}
		cl.fixed[g] = f
	}
	cl.addSends()
	return cl
}

// colourFaults tells pipelines and links apart that a fault concerns.
func (cl *classes) colourFaults() {
	f := &cl.job.Config.Faults
	for i, text := range append(append([]string(nil), f.GPUs...), f.Links...) {
		x, err := job.ParseFault(text)
		if err != nil {
			continue // injectFaults reports it
		}
		colour := mix(uint64(i), math.Float64bits(x.Factor))
		if i < len(f.GPUs) {
			if r := x.Rank(cl.job.Ranks()); r >= 0 {
				cl.pipeline[r%len(cl.pipeline)] += colour
			}
			continue
		}
		for id, l := range cl.job.Topology.All() {
			if x.Concerns(l.Name) {
				cl.link[id] += colour
			}
		}
	}
}

// addSends lists the hand-offs of all pipelines between the stages that the
// schedule connects.
func (cl *classes) addSends() {
	j := cl.job
	for _, pair := range neighbours(j.Program) {
		chunk := j.Stages[pair[0]].Chunks[0].Model
		bytes := max(chunk.Input, chunk.Output)
		for c := range cl.pipeline {
			from, to := pair[0]*len(cl.pipeline)+c, pair[1]*len(cl.pipeline)+c
			call := j.NCCL.Send(from, to, bytes)
			f := mix(mix(uint64(pair[0]), uint64(pair[1])), planColour(call.Plan))
			cl.sends = append(cl.sends, sendClass{pipeline: int32(c), fixed: f, call: call})
		}
	}
}

// neighbours returns the pairs of pipeline ranks that hand over to each other.
func neighbours(p *schedule.Program) [][2]int {
	var out [][2]int
	seen := make(map[[2]int]bool)
	for r := range p.Ranks {
		for c := range p.Chunks {
			next, _, ok := p.Next(r, c)
			if !ok || next == r {
				continue
			}
			for _, pair := range [][2]int{{r, next}, {next, r}} {
				if !seen[pair] {
					seen[pair] = true
					out = append(out, pair)
				}
			}
		}
	}
	return out
}

// planColour hashes what a plan does, its links aside.
func planColour(p *nccl.Plan) uint64 {
	h := mix(uint64(p.Algorithm), uint64(p.Protocol))
	for _, x := range []uint64{
		uint64(p.Channels), uint64(p.Latency), uint64(p.Bytes), math.Float64bits(p.Cap), math.Float64bits(p.Rate()),
	} {
		h = mix(h, x)
	}
	return h
}

// refine splits classes until none splits any more.
func (cl *classes) refine() {
	for last := 0; ; {
		cl.step()
		n := distinct(cl.pipeline) + distinct(cl.group) + distinct(cl.link)
		if n == last {
			return
		}
		last = n
	}
}

func distinct(colours []uint64) int {
	set := make(map[uint64]struct{}, 64)
	for _, x := range colours {
		set[x] = struct{}{}
	}
	return len(set)
}

// step gives everything a new colour from its own and its neighbours'. Sums of
// hashes stand for multisets.
func (cl *classes) step() {
	pipelines := int32(len(cl.pipeline))
	next := make([]uint64, len(cl.pipeline))
	crossed := make([]uint64, len(cl.link))
	for g := range cl.group {
		gr := &cl.job.Groups[g]
		members := uint64(0)
		for _, r := range gr.Ranks {
			members += mix(cl.pipeline[r%pipelines], uint64(r/pipelines))
		}
		cl.group[g] = mix(mix(cl.fixed[g], members), cl.linksOf(gr))
		for _, r := range gr.Ranks {
			next[r%pipelines] += mix(cl.group[g], uint64(r/pipelines))
		}
		for i, id := range cl.comms[gr.Kind] {
			cl.cross(crossed, gr.Call(cl.job.Compiler.Comms, id), cl.group[g], i)
		}
	}
	for i := range cl.sends {
		s := &cl.sends[i]
		s.colour = mix(mix(s.fixed, cl.pipeline[s.pipeline]), cl.crossing(s.call, 0))
		next[s.pipeline] += s.colour
		cl.cross(crossed, s.call, s.colour, 0)
	}
	for c := range next {
		cl.pipeline[c] = mix(cl.pipeline[c], next[c])
	}
	for l := range crossed {
		cl.link[l] = mix(cl.link[l], crossed[l])
	}
}

// linksOf hashes the classes of the links that a group's collectives cross.
func (cl *classes) linksOf(g *job.Group) uint64 {
	var sum uint64
	for i, id := range cl.comms[g.Kind] {
		sum += cl.crossing(g.Call(cl.job.Compiler.Comms, id), i)
	}
	return sum
}

// crossing hashes the classes of the links that the i-th of several calls crosses.
func (cl *classes) crossing(c nccl.Call, i int) uint64 {
	var sum uint64
	links := cl.link[c.Base:]
	for _, u := range c.Links {
		sum += mix(mix(links[u.Link], math.Float64bits(u.Weight)), uint64(i))
	}
	return sum
}

// cross adds the class of a group or message, as its i-th call, to the links that
// the call crosses.
func (cl *classes) cross(crossed []uint64, c nccl.Call, colour uint64, i int) {
	crossed = crossed[c.Base:]
	for _, u := range c.Links {
		crossed[u.Link] += mix(mix(colour, math.Float64bits(u.Weight)), uint64(i))
	}
}

// mix hashes two words into one (the finaliser of SplitMix64 over both).
func mix(a, b uint64) uint64 {
	x := a*0x9e3779b97f4a7c15 ^ b
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
