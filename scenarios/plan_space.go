package scenarios

import (
	"fmt"
	"slices"
	"strconv"

	"trainsim/schedule/kinds"
	"trainsim/sim/input"
	"trainsim/sim/job"
	"trainsim/sim/model"
)

// Layout is what a planner chooses for a job: how it is spread over the GPUs and
// how its batch is cut.
type Layout struct {
	Nodes            int
	TP, PP, DP, CP   int
	EP               int
	Kind             string
	VirtualStages    int
	Microbatches     int
	MicrobatchSize   int
	Recompute        string
	ZeRO             int
	SequenceParallel bool
}

// planKeys are the keys that a layout sets, in the order of Layout.Values.
var planKeys = []string{
	"cluster.nodes", "parallel.tp", "parallel.pp", "parallel.dp", "parallel.cp", "parallel.ep", "schedule.kind", "schedule.virtual_stages",
	"schedule.microbatches", "schedule.microbatch_size", "training.recompute", "parallel.zero", "parallel.sequence_parallel",
}

// PlanKeys returns the keys that a layout sets, in the order of [Layout.Values].
func PlanKeys() []string { return slices.Clone(planKeys) }

// Values returns what the layout sets [PlanKeys] to.
func (l *Layout) Values() []string {
	n := strconv.Itoa
	return []string{n(l.Nodes), n(l.TP), n(l.PP), n(l.DP), n(l.CP), n(l.EP), l.Kind, n(l.VirtualStages), n(l.Microbatches), n(l.MicrobatchSize),
		l.Recompute, n(l.ZeRO), strconv.FormatBool(l.SequenceParallel)}
}

// Apply returns the job with the layout in place of its own.
func (l *Layout) Apply(base *job.Config) *job.Config {
	c := *base
	c.Cluster.Nodes = l.Nodes
	p, s := &c.Parallel, &c.Schedule
	p.TP, p.PP, p.DP, p.CP, p.ZeRO, p.SequenceParallel = l.TP, l.PP, l.DP, l.CP, l.ZeRO, l.SequenceParallel
	p.EP, p.ETP = l.EP, l.TP
	if c.Model.Experts > 0 {
		p.ETP = 1 // narrow experts are not worth cutting
	}
	s.Kind, s.VirtualStages, s.Microbatches, s.MicrobatchSize = l.Kind, l.VirtualStages, l.Microbatches, l.MicrobatchSize
	s.LayersPerStage = nil
	if l.PP == 1 || l.Kind != "1f1b" {
		s.BlockingP2P = false // only the plain schedule's order can block
	}
	if p.FSDPGroup > 0 && (l.ZeRO < 2 || l.DP%p.FSDPGroup != 0) {
		p.FSDPGroup = 0
	}
	c.Training.Recompute = l.Recompute
	return &c
}

// Space is what a planner may choose from.
type Space struct {
	Base  *job.Config
	Nodes []int // of the cluster; several for a front over the number of GPUs
	Batch int64 // global batch in samples, which every layout keeps
	Kinds []string
	// Fixed holds the only value of keys that are not to be chosen.
	Fixed           map[string]string
	MinMicrobatches int
}

// maxMicrobatch is the largest micro-batch that a planner considers, maxVirtual
// the most chunks a rank.
const (
	maxMicrobatch = 64
	maxVirtual    = 16
)

// Fix lets a key of the layout have one value only. It reports false for a key
// that no layout sets.
func (s *Space) Fix(key, value string) (bool, error) {
	key = canonical(key)
	if !slices.Contains(planKeys, key) {
		return false, nil
	}
	switch key {
	case "schedule.kind":
		k, err := kinds.Find(value)
		if err != nil {
			return true, err
		}
		s.Kinds, value = []string{k.Name}, k.Name
	case "training.recompute":
		if k, _ := findKey(key); !slices.Contains(k.Values, value) {
			return true, fmt.Errorf("%s: %q is not known here; %s", key, value, input.DidYouMean(value, k.Values))
		}
	case "parallel.sequence_parallel":
		if value != "true" && value != "false" {
			return true, fmt.Errorf("%s: %q is not a boolean; write true or false", key, value)
		}
	default:
		if n, err := strconv.Atoi(value); err != nil || n < 0 {
			return true, fmt.Errorf("%s: %q is not a count; write a number", key, value)
		}
	}
	if s.Fixed == nil {
		s.Fixed = map[string]string{}
	}
	s.Fixed[key] = value
	return true, nil
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

// Layouts lists every layout of the space, in an order that depends on the
// space alone.
func (s *Space) Layouts() []Layout {
	var out []Layout
	for _, nodes := range s.Nodes {
		c := *s.Base
		c.Cluster.Nodes = nodes
		gpus, ok := product(worldGPUs(&c)...)
		if !ok || !s.allows("cluster.nodes", nodes) {
			continue
		}
		trays := max(c.Cluster.DomainSize()/max(c.Cluster.GPUsPerNode, 1), 1)
		s.degrees(gpus, gpus/max(nodes, 1)*trays, func(l Layout) {
			l.Nodes = nodes
			s.batches(l, func(l Layout) {
				s.schedules(l, func(l Layout) { s.switches(l, func(l Layout) { out = append(out, l) }) })
			})
		})
	}
	return out
}

// degrees calls each for every tp, pp, cp and dp that divide model and GPUs.
// Tensor and context parallelism stay inside a node, or what NVSwitches join,
// unless they are fixed.
func (s *Space) degrees(gpus, perNode int, each func(Layout)) {
	m := &s.Base.Model
	for _, tp := range s.counts("parallel.tp", divisorsUpTo(perNode)) {
		if tp < 1 || gpus%tp != 0 || !splitsModel(s.Base, tp) {
			continue
		}
		for _, cp := range s.counts("parallel.cp", powersUpTo(max(perNode/tp, 1))) {
			if cp < 1 || gpus%(tp*cp) != 0 || cp > 1 && m.SeqLen%int64(2*cp) != 0 {
				continue
			}
			for _, pp := range s.counts("parallel.pp", divisorsUpTo(int(m.Layers))) {
				if pp < 1 || gpus%(tp*cp*pp) != 0 || !s.allows("parallel.dp", gpus/(tp*cp*pp)) {
					continue
				}
				for _, ep := range s.counts("parallel.ep", expertDegrees(m, gpus/pp)) {
					if ep >= 1 && gpus/pp%ep == 0 && max(m.Experts, 1)%int64(ep) == 0 {
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
	return powersUpTo(int(min(max(m.Experts, 1), int64(ranks))))
}

// splitsModel reports whether tp ranks can share the model's matrices.
func splitsModel(c *job.Config, tp int) bool {
	n, m := int64(tp), &c.Model
	kv := m.KV()
	return m.Heads%n == 0 && (m.FFN == 0 || m.FFN%n == 0) && (kv == 0 || kv%n == 0 || n%kv == 0)
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
	layers := int(s.Base.Model.Layers)
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
			if v < 1 || l.PP*v > layers || even && layers%(l.PP*v) != 0 || k.FixedChunks && v != k.Chunks || k.Chunks == 1 && v != 1 {
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
	if s.Base.Model.Attention == model.Unfused { // fused attention keeps nothing that selective recomputation could save
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
	if l.TP > 1 && s.Base.Model.SeqLen/int64(l.CP)%int64(l.TP) == 0 {
		sequence = []bool{true, false}
	}
	for _, l.Recompute = range recompute {
		for _, l.ZeRO = range s.counts("parallel.zero", zero) {
			for _, l.SequenceParallel = range sequence {
				fixed, ok := s.Fixed["parallel.sequence_parallel"]
				if ok && fixed != strconv.FormatBool(l.SequenceParallel) {
					continue
				}
				if key, _ := l.Apply(s.Base).ExpertProblem(); key == "" {
					each(l)
				}
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
