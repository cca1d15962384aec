package step

import (
	"fmt"

	"trainsim/schedule"
	"trainsim/sim/gpu"
	"trainsim/sim/model"
	"trainsim/sim/trace"
)

// dtypes maps the scenario's precisions.
var dtypes = map[string]gpu.Dtype{"fp32": gpu.FP32, "tf32": gpu.TF32, "fp16": gpu.FP16, "bf16": gpu.BF16, "fp8": gpu.FP8}

// dtype returns the number format of a precision, fallback when it is empty.
func dtype(name string, fallback gpu.Dtype) (gpu.Dtype, error) {
	if name == "" {
		return fallback, nil
	}
	d, ok := dtypes[name]
	if !ok {
		return 0, fmt.Errorf("precision %q is unknown; write fp32, tf32, fp16, bf16 or fp8", name)
	}
	return d, nil
}

// spec returns the model as one rank and micro-batch see it.
func (c *Config) spec() (*model.Spec, error) {
	precision, err := dtype(c.Training.Precision, gpu.BF16)
	if err != nil {
		return nil, err
	}
	grads, err := dtype(c.Training.GradPrecision, gpu.FP32)
	if err != nil {
		return nil, err
	}
	s := &model.Spec{
		Config: c.Model, TP: int64(c.Parallel.TP), CP: int64(c.Parallel.CP),
		EP: int64(max(c.Parallel.EP, 1)), ExpertTP: int64(c.Parallel.expertTP()),
		TradeHeads:       c.tradesHeads(),
		CPInOrder:        c.modules() == model.PlainModules,
		SequenceParallel: c.Parallel.SequenceParallel && c.Parallel.TP > 1,
		OverlapTP:        c.Parallel.OverlapTP,
		SerialTP:         c.serialTP(),
		Microbatch:       int64(c.Schedule.MicrobatchSize),
		Precision:        precision, GradDtype: grads, Dropout: c.Training.Dropout, FP8Weights: c.Training.FP8ParamGather,
		GatherParams: c.Parallel.ZeRO >= 2 && !c.gathersOnce(), ReshardAfterForward: c.Parallel.ZeRO >= 3, GatherLate: c.Parallel.BackwardPrefetch == "post",
		LoRA:        c.LoRA,
		WeightGrads: c.weightGrads(precision, grads), AddGrads: !c.megatron() && c.Parallel.ZeRO < 2 || c.gathersOnce(),
		Modules: c.modules(), Eager: c.Host.Framework == "eager", ScatterGather: c.scatterGather(),
		KeepOutputs: c.Host.Framework == "deepspeed", LossMetrics: c.Training.LossMetrics,
	}
	if s.Loss, err = c.loss(); err != nil {
		return nil, err
	}
	switch c.Training.Recompute {
	case "selective":
		s.Checkpointing.Alternate = c.alternates()
		s.Checkpointing.Selective = !s.Checkpointing.Alternate
	case "full":
		s.Checkpointing.Every = 1
	case "every-n":
		s.Checkpointing.Every = max(1, c.Training.RecomputeN)
	case "sqrt":
		for s.Checkpointing.Every*s.Checkpointing.Every < int(c.Model.Layers) {
			s.Checkpointing.Every++
		}
	}
	return s, nil
}

// transformerEngine reports whether the layers are Transformer Engine's, which
// Megatron-Core takes on GPUs that have FP8; on older ones, and with separate
// attention kernels, they are Megatron-LM's own.
func (c *Config) transformerEngine() bool {
	return c.megatron() && c.GPU.Generation().FP8 && c.Model.Attention != model.Unfused
}

// alternates reports whether selective recomputation is that of PyTorch's own
// trainers, which choose operators to keep. Megatron-LM's, of the attention core
// alone, has little to save where one kernel computes it.
func (c *Config) alternates() bool {
	return !c.megatron() && c.Host.Framework != "deepspeed" && c.Model.Attention != model.Unfused
}

// scatterGather reports whether the ranks of a tensor-parallel group share
// hand-offs: DeepSpeed's pipeline does, and Megatron-LM did from 2021
// (Narayanan et al. 2021, section 4.1) until Megatron-Core, whose jobs do not
// compute attention by separate kernels.
func (c *Config) scatterGather() bool {
	return c.Host.Framework == "deepspeed" || c.megatron() && c.Model.Attention == model.Unfused
}

// modules says whose layers the framework trains. Llama's RMS norms and gated
// blocks came to Megatron with Transformer Engine's modules.
func (c *Config) modules() model.Modules {
	switch {
	case c.transformerEngine(), c.megatron() && c.Model.Norm == model.RMSNorm:
		return model.EngineModules
	case c.megatron(), c.Host.Framework == "deepspeed":
		return model.MegatronModules
	}
	return model.PlainModules
}

func (c *Config) megatron() bool {
	return c.Host.Framework == "" || c.Host.Framework == "megatron"
}

// weightGrads follows Megatron's gradient accumulation fusion, which adds to
// fp32 main gradients in the product itself; other frameworks and formats leave
// it to autograd.
func (c *Config) weightGrads(precision, grads gpu.Dtype) model.WeightGrads {
	switch {
	case !c.megatron() || grads != gpu.FP32 || precision.Bytes() == 4 || c.Parallel.ZeRO >= 2:
		return model.NewWeightGrads
	case c.transformerEngine():
		return model.StandInWeightGrads
	}
	return model.FusedWeightGrads
}

// loss resolves training.cross_entropy. Transformer Engine has the fused
// kernel since 2025, so that it is taken for the GPUs of that year.
func (c *Config) loss() (model.LossKernels, error) {
	switch c.Training.CrossEntropy {
	case "", "auto":
		if c.transformerEngine() && c.GPU.Generation().FusedCrossEntropy {
			return model.EngineLoss, nil
		}
		if c.modules() == model.PlainModules {
			return model.PlainLoss, nil
		}
		return model.UnfusedLoss, nil
	case "fused":
		return model.EngineLoss, nil
	case "flash":
		return model.FlashLoss, nil
	case "unfused":
		return model.UnfusedLoss, nil
	case "plain":
		return model.PlainLoss, nil
	}
	return 0, fmt.Errorf("cross_entropy %q is unknown; write auto, fused, flash, unfused or plain", c.Training.CrossEntropy)
}

// tradesHeads resolves parallel.cp_comm: an all-to-all moves less than a ring
// of keys and values where the heads divide by the ranks and NVLink joins them.
// PyTorch's context parallelism is a ring. Its published runs over two to eight
// ranks (torchtitan, tables 2 and 6) take as long as a sequence cut in order
// takes the last rank, 2 CP - 1 times the attention over its own part: within
// 10 % there, and far from an even cut.
func (c *Config) tradesHeads() bool {
	p := &c.Parallel
	switch p.CPComm {
	case "a2a":
		return true
	case "p2p":
		return false
	}
	if c.Model.KVLoraRank > 0 || c.modules() == model.PlainModules { // which have the ring alone
		return false
	}
	ranks := int64(p.TP * p.CP)
	return c.Model.KV()%ranks == 0 && c.Model.Heads%ranks == 0 &&
		int(ranks) <= c.Cluster.DomainSize() && c.Cluster.NVLinks > 0
}

// serialTP reports whether collectives miss their overlap in the backward.
// Megatron-LM orders them ahead of the products by one launch queue
// (CUDA_DEVICE_MAX_CONNECTIONS=1), which it demands before Blackwell only; with
// several queues a product that fills the device goes first. Megatron-DeepSpeed's
// layers are older than the overlap (Megatron-LM had it from November 2021 on).
func (c *Config) serialTP() bool {
	return c.Host.LaunchBlocking || c.Host.Framework == "deepspeed" ||
		!c.GPU.Generation().SingleLaunchQueue && !c.Parallel.OverlapTP
}

// chunkCode is the compiled code of one chunk's shape. Chunks of the same
// shape share it.
type chunkCode struct {
	shape           chunkShape
	split           bool // backwards may run in parts
	chunk           *model.Chunk
	blocks          map[blockKey]*block
	saved           []bool // by tensor: lives from forward into backward
	boundary        int64
	forwardTensors  [][]model.TensorID
	backwardTensors [][]model.TensorID
	inputTensors    [][]model.TensorID
	weightTensors   [][]model.TensorID
	input, weight   []model.Op
}

// blockKey names a variant of a chunk's code.
type blockKey struct {
	op          schedule.Op
	first, last bool // first forward and last backward of the step
	buckets     [2]int32
}

// weights lists the elements of the chunk's parameter tensors, experts last.
func (cc *chunkCode) weights() []int64 {
	return append(append([]int64(nil), cc.chunk.Weights...), cc.chunk.ExpertWeights...)
}

func newChunkCode(shape chunkShape, chunk *model.Chunk, split bool) *chunkCode {
	cc := &chunkCode{shape: shape, split: split, chunk: chunk, blocks: make(map[blockKey]*block), boundary: chunk.BoundaryBytes}
	cc.input, cc.weight = chunk.Split()
	fused := model.Lifetimes(chunk.Tensors, chunk.Forward, chunk.Backward)
	cc.forwardTensors, cc.backwardTensors = fused[0], fused[1]
	if split { // schedules may run some backwards whole and others in parts
		t := model.Lifetimes(chunk.Tensors, chunk.Forward, cc.input, cc.weight)
		cc.inputTensors, cc.weightTensors = t[1], t[2]
	}
	cc.saved = savedTensors(chunk, cc.forwardTensors)
	cc.markOperands()
	return cc
}

// markOperands marks, as activations, what the input's gradient writes for the
// weights' gradient to read in an action of its own.
func (cc *chunkCode) markOperands() {
	written := make([]bool, len(cc.saved))
	for i := range cc.input {
		for _, id := range cc.input[i].Writes {
			written[id] = true
		}
	}
	for _, ids := range cc.weightTensors {
		for _, id := range ids {
			cc.saved[id] = cc.saved[id] || written[id]
		}
	}
}

// savedTensors marks the activations: what the forward, or its recomputation,
// writes for the backward.
func savedTensors(chunk *model.Chunk, freed [][]model.TensorID) []bool {
	saved := leftBehind(chunk, freed)
	markRecomputed(chunk.Backward, saved)
	return saved
}

// leftBehind marks what the forward writes and does not free.
func leftBehind(chunk *model.Chunk, freed [][]model.TensorID) []bool {
	saved := make([]bool, len(chunk.Tensors))
	for i := range chunk.Forward {
		for _, id := range chunk.Forward[i].Writes {
			saved[id] = true
		}
	}
	for _, ids := range freed {
		for _, id := range ids {
			saved[id] = false
		}
	}
	return saved
}

// markRecomputed marks what recomputation writes for the backward to read.
func markRecomputed(ops []model.Op, saved []bool) {
	again := make([]bool, len(saved))
	for i := range ops {
		for _, id := range ops[i].Writes {
			again[id] = again[id] || ops[i].Phase == model.Recompute
		}
		for _, id := range ops[i].Reads {
			saved[id] = saved[id] || again[id] && ops[i].Phase != model.Recompute
		}
	}
}

// actionKinds maps the schedule's operations to what figures show.
var actionKinds = map[schedule.Op]trace.Kind{
	schedule.Forward: trace.Forward, schedule.Backward: trace.Backward,
	schedule.BackwardInput: trace.BackwardInput, schedule.BackwardWeight: trace.BackwardWeight,
}

// source returns the operators and frees that an operation runs.
func (cc *chunkCode) source(op schedule.Op) ([]model.Op, [][]model.TensorID) {
	switch op {
	case schedule.Forward:
		return cc.chunk.Forward, cc.forwardTensors
	case schedule.BackwardInput:
		return cc.input, cc.inputTensors
	case schedule.BackwardWeight:
		return cc.weight, cc.weightTensors
	}
	return cc.chunk.Backward, cc.backwardTensors
}
