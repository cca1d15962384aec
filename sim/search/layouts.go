package search

import (
	"slices"
	"strconv"

	"trainsim/schedule/kinds"
	"trainsim/sim/input"
	"trainsim/sim/model"
)

// maxMicrobatch is the largest micro-batch that a planner considers, maxVirtual
// the most chunks a rank, maxGPUs more GPUs than there are.
const (
	maxMicrobatch = 64
	maxVirtual    = 16
	maxGPUs       = 1 << 40
)

// Layouts lists every layout of the space, in an order that depends on the
// space alone.
func (s *Space) Layouts() []Layout {
	out, _ := s.enumerate()
	return out
}

// Refusal is a reason for which the model cannot be cut as some layouts say.
type Refusal struct {
	Problem *input.Problem // of the first of them
	Layouts int
}

// enumerate lists the layouts that the model can be cut by, and why it cannot be
// cut by others, one entry for each key at fault.
func (s *Space) enumerate() ([]Layout, []Refusal) {
	var out []Layout
	var refused []Refusal
	take := func(l Layout) {
		misfits := l.Apply(s.Base).Misfits()
		if len(misfits) == 0 {
			out = append(out, l)
			return
		}
		i := slices.IndexFunc(refused, func(r Refusal) bool { return r.Problem.Key == misfits[0].Key })
		if i < 0 {
			i = len(refused)
			refused = append(refused, Refusal{Problem: misfits[0]})
		}
		refused[i].Layouts++
	}
	for _, nodes := range s.Nodes {
		c := *s.Base
		c.Cluster.Nodes = nodes
		perNode := c.Cluster.NodeGPUs()
		if perNode < 1 || nodes > maxGPUs/perNode || !s.allows("cluster.nodes", nodes) {
			continue
		}
		gpus := max(nodes, 1) * perNode
		trays := max(c.Cluster.DomainSize()/max(c.Cluster.GPUsPerNode, 1), 1)
		s.degrees(gpus, gpus/max(nodes, 1)*trays, func(l Layout) {
			l.Nodes = nodes
			s.batches(l, func(l Layout) {
				s.schedules(l, func(l Layout) { s.switches(l, take) })
			})
		})
	}
	return out, refused
}

// degrees calls each for every tp, pp, cp and dp that divide model and GPUs.
// Tensor and context parallelism stay inside a node, or what NVSwitches join,
// unless they are fixed.
func (s *Space) degrees(gpus, perNode int, each func(Layout)) {
	m := &s.Base.Model
	for _, tp := range s.counts("parallel.tp", divisorsUpTo(perNode)) {
		if tp < 1 || gpus%tp != 0 || !sharesWidths(m, tp) {
			continue
		}
		for _, cp := range s.counts("parallel.cp", powersUpTo(max(perNode/tp, 1))) {
			if cp < 1 || gpus%(tp*cp) != 0 || !m.Balanced(cp) {
				continue
			}
			for _, pp := range s.counts("parallel.pp", divisorsUpTo(m.Depth())) {
				if pp < 1 || gpus%(tp*cp*pp) != 0 || !s.allows("parallel.dp", gpus/(tp*cp*pp)) {
					continue
				}
				for _, ep := range s.counts("parallel.ep", expertDegrees(m, gpus/pp)) {
					if ep >= 1 && gpus/pp%ep == 0 && max(m.MostEP(), 1)%ep == 0 {
						each(Layout{TP: tp, CP: cp, PP: pp, DP: gpus / (tp * cp * pp), EP: ep})
					}
				}
			}
		}
	}
}

// expertDegrees lists over how many of a stage's ranks the experts may spread:
// powers of two.
func expertDegrees(m *model.Config, ranks int) []int {
	return powersUpTo(min(max(m.MostEP(), 1), ranks))
}

// sharesWidths reports whether tp ranks can share the model's matrices.
func sharesWidths(m *model.Config, tp int) bool {
	misfits := m.Misfits(&model.Layout{TP: tp, CP: 1, EP: 1, ExpertTP: 1})
	return !slices.ContainsFunc(misfits, func(x *input.Problem) bool { return x.Key == "parallel.tp" })
}

// batches calls each for every way to cut the global batch.
func (s *Space) batches(l Layout, each func(Layout)) {
	if s.Batch%int64(l.DP) != 0 {
		return
	}
	replica := int(s.Batch / int64(l.DP))
	for _, size := range s.counts("schedule.microbatch_size", powersUpTo(maxMicrobatch)) {
		if size < 1 || replica%size != 0 {
			continue
		}
		l.MicrobatchSize, l.Microbatches = size, replica/size
		if l.Microbatches >= s.MinMicrobatches && s.allows("schedule.microbatches", l.Microbatches) {
			each(l)
		}
	}
}

// schedules calls each for every schedule and number of chunks a rank.
func (s *Space) schedules(l Layout, each func(Layout)) {
	layers := s.Base.Model.Depth()
	names := s.Kinds
	if _, fixed := s.Fixed["schedule.kind"]; l.PP == 1 && !fixed {
		names = []string{"1f1b"} // without a pipeline all are alike
	}
	even := s.Base.Schedule.FirstLastLayers == "" || s.Base.Schedule.FirstLastLayers == "even"
	for _, name := range names {
		k, err := kinds.Find(name)
		if err != nil {
			continue
		}
		chunks := []int{k.Chunks}
		if !k.FixedChunks && k.Chunks > 1 {
			chunks = nil
			for v := 2; v <= min(maxVirtual, layers/l.PP); v++ {
				chunks = append(chunks, v)
			}
		}
		for _, v := range s.counts("schedule.virtual_stages", chunks) {
			if v < 1 || l.PP*v > layers || even && layers%(l.PP*v) != 0 || k.FixedChunks && v != k.Chunks ||
				k.Chunks == 1 && v != 1 {
				continue
			}
			l.Kind, l.VirtualStages = k.Name, v
			each(l)
		}
	}
}

// switches calls each for what is on or off.
func (s *Space) switches(l Layout, each func(Layout)) {
	recompute := []string{"none", "full"}
	if !s.Base.Model.FusedAttention() { // fused attention keeps nothing that selective recomputation could save
		recompute = []string{"none", "selective", "full"}
	}
	if fixed, ok := s.Fixed["training.recompute"]; ok {
		recompute = []string{fixed}
	}
	zero := []int{0}
	if l.DP*l.CP > 1 {
		zero = []int{0, 1}
		if l.PP == 1 {
			zero = []int{0, 1, 2, 3} // gathering weights for every micro-batch of a pipeline pays for nobody
		}
	}
	sequence := []bool{false}
	if l.TP > 1 {
		sequence = []bool{true, false}
	}
	for _, l.Recompute = range recompute {
		for _, l.ZeRO = range s.counts("parallel.zero", zero) {
			for _, l.SequenceParallel = range sequence {
				fixed, ok := s.Fixed["parallel.sequence_parallel"]
				if ok && fixed != strconv.FormatBool(l.SequenceParallel) {
					continue
				}
				each(l)
			}
		}
	}
}

// divisorsUpTo lists the divisors of n.
func divisorsUpTo(n int) (out []int) {
	for d := 1; d <= n; d++ {
		if n%d == 0 {
			out = append(out, d)
		}
	}
	return out
}

// powersUpTo lists the powers of two up to n.
func powersUpTo(n int) (out []int) {
	for d := 1; d <= n; d *= 2 {
		out = append(out, d)
	}
	return out
}

// allows reports whether a value of a key is one to choose.
func (s *Space) allows(key string, value int) bool {
	fixed, ok := s.Fixed[key]
	return !ok || fixed == strconv.Itoa(value)
}

// counts returns the candidates that may be chosen: those of the list, or the
// fixed value whether it is in the list or not.
func (s *Space) counts(key string, list []int) []int {
	if fixed, ok := s.Fixed[key]; ok {
		n, _ := strconv.Atoi(fixed)
		return []int{n}
	}
	return list
}
