package job

import (
	"trainsim/interconnect"
	"trainsim/interconnect/nccl"
	"trainsim/sim"
	"trainsim/sim/framework"
	"trainsim/sim/gpu"
	"trainsim/sim/model"
)

// Config is one training job, validated and with every preset resolved: what a
// scenario file becomes. Its shape follows the tables of the file.
type Config struct {
	Name        string              `toml:"name"`
	Description string              `toml:"description"`
	Seed        uint64              `toml:"seed"`
	Model       model.Config        `toml:"model"`
	GPU         gpu.Device          `toml:"gpu"`
	Cluster     interconnect.Config `toml:"cluster"`
	Parallel    Parallel            `toml:"parallel"`
	Schedule    Schedule            `toml:"schedule"`
	Training    Training            `toml:"training"`
	LoRA        model.LoRA          `toml:"lora"`
	Data        Data                `toml:"data"`
	Evaluation  Evaluation          `toml:"evaluation"`
	Memory      Memory              `toml:"memory"`
	Host        Host                `toml:"host"`
	Framework   framework.Framework `toml:"framework"`
	NCCL        nccl.Settings       `toml:"nccl"`
	Faults      Faults              `toml:"faults"`
}

// Parallel is the layout of the job: gpus = tp * cp * dp * pp.
type Parallel struct {
	TP               int    `toml:"tp"`
	PP               int    `toml:"pp"`
	DP               int    `toml:"dp"`
	CP               int    `toml:"cp"`
	EP               int    `toml:"ep"`
	ETP              int    `toml:"etp"`     // tensor-parallel size of an expert; tp when 0
	CPComm           string `toml:"cp_comm"` // how context-parallel ranks exchange: auto | p2p | a2a
	SequenceParallel bool   `toml:"sequence_parallel"`
	ZeRO             int    `toml:"zero"`
	FSDPGroup        int    `toml:"fsdp_group"` // ranks that a ZeRO-2/3 shard spans; dp when 0
	// BackwardPrefetch says when ZeRO-3 gathers the next unit's parameters in the
	// backward: before or after the present unit's gradients leave.
	BackwardPrefetch   string `toml:"backward_prefetch"` // pre | post
	OverlapGradReduce  bool   `toml:"overlap_grad_reduce"`
	OverlapParamGather bool   `toml:"overlap_param_gather"`
	OverlapTP          bool   `toml:"overlap_tp"`
	// GradBucket is how many bytes of gradients one data-parallel collective
	// carries when it overlaps; 0 is the framework's own rule.
	GradBucket sim.Bytes `toml:"grad_bucket"`
}

// Schedule is the pipeline schedule and how the batch is cut.
type Schedule struct {
	Kind            string `toml:"kind"`
	Microbatches    int    `toml:"microbatches"`
	MicrobatchSize  int    `toml:"microbatch_size"`
	VirtualStages   int    `toml:"virtual_stages"`
	GroupSize       int    `toml:"group_size"`        // interleaved: micro-batch group size; pp when 0
	MemoryCap       int    `toml:"memory_cap"`        // zb-auto: live activations a rank may hold; 0: the kind's own
	FirstLastLayers string `toml:"first_last_layers"` // even | embedding-balanced | one-fewer-each | auto
	LayersPerStage  []int  `toml:"layers_per_stage"`  // one entry a virtual stage, overrides FirstLastLayers
	// NoBarrier lets every rank begin its next step when it is done, without
	// waiting for the others' gradient norm (the optimizer's post-validation).
	NoBarrier   bool   `toml:"no_optimizer_barrier"`
	BlockingP2P bool   `toml:"blocking_p2p"` // sends and receives stop the compute stream, as Megatron's 1F1B does
	File        string `toml:"file"`         // kind = "csv": the schedule's file
	CSV         string `toml:"csv"`          // its content, or the schedule itself without a file
}

// Training is precision, optimizer and recomputation.
type Training struct {
	Precision     string `toml:"precision"`        // fp32 | fp16 | bf16 | fp8
	GradPrecision string `toml:"grad_precision"`   // fp32 | bf16 | fp16
	Optimizer     string `toml:"optimizer"`        // adam | sgd | sgd-momentum | adam-8bit | adafactor
	Recompute     string `toml:"recompute"`        // none | selective | full | every-n | sqrt
	RecomputeN    int    `toml:"recompute_layers"` // every-n: a checkpoint every so many layers
	Dropout       bool   `toml:"dropout"`
	// FP8ParamGather keeps the layers' matrices in FP8 and gathers them so
	// (Megatron-LM's flag of that name).
	FP8ParamGather bool   `toml:"fp8_param_gather"`
	CrossEntropy   string `toml:"cross_entropy"` // auto | fused | flash | unfused | plain
	// LossMetrics is how many metrics compute the cross-entropy once more after
	// a micro-batch's backward.
	LossMetrics int `toml:"loss_metrics"`
}

// Memory is what the caching allocator is told.
type Memory struct {
	AllocConf string  `toml:"alloc_conf"`
	Fraction  float64 `toml:"memory_fraction"`
}

// Host is the CPU side of a rank: what launching costs.
type Host struct {
	// LaunchBlocking lets the host wait for every kernel (CUDA_LAUNCH_BLOCKING=1).
	LaunchBlocking bool `toml:"launch_blocking"`
}

// Data is how samples reach the GPU: their lengths and what is loaded ahead.
type Data struct {
	// Workers is how many loader processes there are, Prefetch how many batches
	// each keeps ready; with GPUPrefetch they are ready on the GPU.
	Workers     int  `toml:"workers"`
	Prefetch    int  `toml:"prefetch"`
	GPUPrefetch bool `toml:"gpu_prefetch"`
	// SampleBytes is the size of a sample as it is loaded; 0 is three int64
	// values a token: the input, its mask and the labels.
	SampleBytes sim.Bytes `toml:"sample_bytes"`
	// Lengths says how long sequences are: fixed (the model's seq_len), uniform
	// from MinLength to seq_len, or list, drawn from LengthList. A micro-batch is
	// padded to its longest sequence. Different lengths make a run one of Steps
	// steps; Pad pads every sequence to seq_len, the control.
	Lengths     string `toml:"lengths"`
	MinLength   int    `toml:"min_length"`
	LengthList  []int  `toml:"length_list"`
	LengthsFile string `toml:"lengths_file"`
	Pad         bool   `toml:"pad"`
	Steps       int    `toml:"steps"`
}

// Evaluation is a phase of forward passes after each step.
type Evaluation struct {
	Batches   int `toml:"batches"`    // 0: none
	BatchSize int `toml:"batch_size"` // sequences; 0: as in training
	// KeepActivations runs it without torch.no_grad: what a backward would need
	// lives to the end of the pass.
	KeepActivations bool `toml:"keep_activations"`
}
