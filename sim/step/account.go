package step

import (
	"errors"
	"math"

	"trainsim/memory"
	"trainsim/sim/model"
	"trainsim/sim/trace"
)

// RankMemory is the memory account of one rank (the first) of a pipeline rank.
type RankMemory struct {
	Stage, Rank int
	// PeakAllocated and PeakReserved are PyTorch's two figures; Outside is what
	// the CUDA context and NCCL take from the driver beside them.
	PeakAllocated, PeakReserved, Outside int64
	Capacity                             int64
	// AtPeak splits PeakAllocated by kind; context and communication buffers
	// outside PyTorch are added to their kinds.
	AtPeak [memory.NumKinds]int64
	// OOM is the allocation that did not fit, nil if all did. The other
	// figures are then those of a device with room enough.
	OOM *OOM

	atStart [memory.NumKinds + 1]int64
	points  []memPoint
}

// OOM is an allocation that failed, in the program order of its rank.
type OOM struct {
	Rank, Stage int
	Step        int // of training, from 0
	Action      string
	Tensor      string
	Phase       string // start-up, first-forward, forward, first-backward, backward, optimizer-step
	Err         *memory.OutOfMemory
	action, pc  int32
}

// memPoint is a counter's new value behind an instruction of the last step.
type memPoint struct {
	action, pc int32
	counter    int32
	value      int64
}

// steadySteps is how many steps the account runs: optimizer states appear at
// the end of the first, so that the second has the steady peak.
const steadySteps = 2

// Account replays the allocations of one rank of every pipeline rank.
func (j *Job) Account() ([]RankMemory, error) {
	out := make([]RankMemory, len(j.stages))
	for s := range j.stages {
		m, err := j.accountStage(s)
		if err != nil {
			return nil, err
		}
		out[s] = m
	}
	return out, nil
}

// accountStage runs with the device's memory and, where that does not do, once
// more with memory enough, to know what would be needed.
func (j *Job) accountStage(stage int) (RankMemory, error) {
	a, err := j.newAccount(stage, int64(j.Config.GPU.Memory))
	if err != nil {
		return RankMemory{}, err
	}
	oom := a.run()
	if oom != nil {
		if a, err = j.newAccount(stage, math.MaxInt64/4); err != nil {
			return RankMemory{}, err
		}
		a.run()
	}
	m := a.result()
	m.Capacity, m.OOM = int64(j.Config.GPU.Memory), oom
	return m, nil
}

// account is one replay.
type account struct {
	job     *Job
	stage   int
	outside [memory.NumKinds]int64
	alloc   *memory.Allocator
	live    map[liveKey][]memory.Ref
	kept    map[string]bool        // tensors that stay, by name
	pool    map[int][][]memory.Ref // spare slices by length
	step    int
	action  int32
	pc      int32
	points  []memPoint
	last    [memory.NumKinds + 1]int64
	atStart [memory.NumKinds + 1]int64
	states  bool // optimizer states exist
	full    error
	tensor  string
}

type liveKey struct {
	chunk      int16
	microbatch int32
}

func (j *Job) newAccount(stage int, capacity int64) (*account, error) {
	conf, err := memory.ParseConf(j.Config.Memory.AllocConf)
	if err != nil {
		return nil, err
	}
	a := &account{
		job: j, stage: stage, live: make(map[liveKey][]memory.Ref), kept: make(map[string]bool), pool: make(map[int][][]memory.Ref),
		alloc: memory.New(memory.Config{Capacity: capacity, Conf: conf, Fraction: j.Config.Memory.Fraction}),
	}
	a.outside[memory.Context] = int64(j.Config.GPU.ContextBytes)
	a.outside[memory.CommBuffers] = j.ncclBytes(stage)
	return a, nil
}

// ncclBytes is what the communicators of a stage's first rank hold.
func (j *Job) ncclBytes(stage int) int64 {
	rank := stage * j.Config.Parallel.columns()
	var sum int64
	for kind := range model.NumGroups {
		if id := j.groupOf[kind]; id != nil && id[rank] >= 0 {
			sum += j.groups[id[rank]].comm.MemoryBytes()
		}
	}
	return sum
}

// run replays steadySteps steps and returns the allocation that failed.
func (a *account) run() *OOM {
	for _, bytes := range a.outside {
		if !a.alloc.TakeExternal(bytes) {
			a.fail(&memory.OutOfMemory{Requested: bytes}, "CUDA context and communicators")
		}
	}
	a.static()
	for a.step = range steadySteps {
		if a.step == steadySteps-1 {
			a.mark()
		}
		script := a.job.stages[a.stage].script
		for i := range script {
			a.action = int32(i)
			if a.full != nil {
				return a.oom()
			}
			a.runAction(&script[i], i == len(script)-1)
		}
	}
	if a.full != nil {
		return a.oom()
	}
	return nil
}

// static allocates what lives as long as the job.
func (a *account) static() {
	j, s := a.job, &a.job.stages[a.stage]
	shards := int64(1)
	if j.dp.sharded() {
		shards = j.dp.ranks
	}
	for _, cc := range s.chunks {
		weights := cc.chunk.Parameters * j.dp.paramBytes
		if j.dp.zero >= 3 {
			weights = (weights + shards - 1) / shards
		}
		if v := j.Program.WeightVersions; v != nil {
			weights *= int64(v[a.stage]) // stashed versions
		}
		a.malloc("weights", weights, memory.Weights)
		a.malloc("gradients", (cc.chunk.Parameters*j.dp.gradBytes+shards-1)/shards, memory.Gradients)
	}
	a.malloc("master weights", s.ownElements*j.opt.Master, memory.Optimizer)
}

func (a *account) malloc(what string, bytes int64, kind memory.Kind) memory.Ref {
	if bytes == 0 || a.full != nil {
		return 0
	}
	ref, err := a.alloc.Malloc(bytes, 0, kind)
	if err != nil {
		a.fail(err, what)
	}
	return ref
}

func (a *account) fail(err error, what string) {
	if a.full == nil {
		a.full, a.tensor = err, what
	}
}

// runAction replays the allocations of one action of the script.
func (a *account) runAction(act *action, last bool) {
	var refs [2][]memory.Ref
	var cc [2]*chunkCode
	for i, p := range act.list() {
		if p.microbatch >= 0 {
			cc[i] = a.job.stages[a.stage].chunks[p.chunk]
			refs[i] = a.refs(liveKey{p.chunk, p.microbatch}, len(cc[i].chunk.Tensors))
		}
	}
	for pc, ops := range act.block.memory {
		a.pc = int32(pc)
		for _, op := range ops {
			a.apply(cc[op.part], refs[op.part], op)
		}
		if len(ops) > 0 {
			a.sample()
		}
	}
	if last && !a.states {
		a.states = true
		a.malloc("optimizer states", a.job.stages[a.stage].ownElements*a.job.opt.States, memory.Optimizer)
	}
	for i, p := range act.list() {
		if cc[i] != nil && allFreed(refs[i]) {
			a.recycle(liveKey{p.chunk, p.microbatch}, refs[i])
		}
	}
}

func (a *account) apply(cc *chunkCode, refs []memory.Ref, op memOp) {
	if op.free {
		if refs[op.tensor] != 0 {
			a.alloc.Free(refs[op.tensor])
			refs[op.tensor] = 0
		}
		return
	}
	if refs[op.tensor] != 0 {
		return
	}
	t := &cc.chunk.Tensors[op.tensor]
	if t.Kept {
		if !a.kept[t.Name] {
			a.kept[t.Name] = true
			a.malloc(t.Name, t.Bytes, memory.Gradients)
		}
		return
	}
	kind := memory.Temporaries
	if cc.saved[op.tensor] {
		kind = memory.Activations
	}
	refs[op.tensor] = a.malloc(t.Name, t.Bytes, kind)
}

func (a *account) refs(key liveKey, n int) []memory.Ref {
	if r, ok := a.live[key]; ok {
		return r
	}
	spare := a.pool[n]
	var r []memory.Ref
	if len(spare) > 0 {
		r, a.pool[n] = spare[len(spare)-1], spare[:len(spare)-1]
	} else {
		r = make([]memory.Ref, n)
	}
	a.live[key] = r
	return r
}

func (a *account) recycle(key liveKey, refs []memory.Ref) {
	delete(a.live, key)
	a.pool[len(refs)] = append(a.pool[len(refs)], refs)
}

func allFreed(refs []memory.Ref) bool {
	for _, r := range refs {
		if r != 0 {
			return false
		}
	}
	return true
}

// values returns the counters: allocated by kind, with what lies outside
// PyTorch in its kinds, and reserved.
func (a *account) values() (v [memory.NumKinds + 1]int64) {
	for k, n := range a.alloc.AllocatedByKind() {
		v[k] = n + a.outside[k]
	}
	v[memory.NumKinds] = a.alloc.Reserved() + a.alloc.External()
	return v
}

// mark begins the recorded step.
func (a *account) mark() {
	a.last = a.values()
	a.atStart = a.last
	a.points = a.points[:0]
}

// sample records the counters that changed in the last step.
func (a *account) sample() {
	if a.step != steadySteps-1 {
		return
	}
	v := a.values()
	for k := range v {
		if v[k] != a.last[k] {
			a.points = append(a.points, memPoint{a.action, a.pc, int32(k), v[k]})
		}
	}
	a.last = v
}

func (a *account) result() RankMemory {
	m := RankMemory{
		Stage: a.stage, Rank: a.stage * a.job.Config.Parallel.columns(),
		PeakAllocated: a.alloc.PeakAllocated(), PeakReserved: a.alloc.PeakReserved(),
		AtPeak: a.alloc.PeakByKind(), atStart: a.atStart, points: a.points,
	}
	for k, n := range a.outside {
		m.AtPeak[k] += n
		m.Outside += n
	}
	return m
}

func (a *account) oom() *OOM {
	o := &OOM{Rank: a.stage * a.job.Config.Parallel.columns(), Stage: a.stage, Step: a.step,
		Tensor: a.tensor, Phase: "start-up", Action: "start-up", action: -1}
	errors.As(a.full, &o.Err)
	if len(a.live) > 0 || a.action > 0 || a.step > 0 {
		act := &a.job.stages[a.stage].script[a.action]
		o.Action, o.Phase = a.job.compiler.names[act.name], a.phase(act)
		o.action, o.pc = a.action, a.pc
	}
	return o
}

func (a *account) phase(act *action) string {
	first := ""
	p := &act.parts[0]
	if a.step == 0 && p.microbatch == 0 {
		first = "first-"
	}
	switch {
	case p.microbatch < 0:
		return "optimizer-step"
	case p.kind == trace.Forward:
		return first + "forward"
	}
	return first + "backward"
}

// StaticBytes returns the weights, gradients and optimizer bytes of the
// fullest rank: what is there before any activation.
func (j *Job) StaticBytes() int64 {
	var most int64
	for i := range j.stages {
		s := &j.stages[i]
		most = max(most, s.gradElements*(j.dp.paramBytes+j.dp.gradBytes)+s.ownElements*(j.opt.Master+j.opt.States))
	}
	return most
}
