package measured

import (
	"cmp"
	"errors"
	"math"
	"strings"

	"trainsim/scenarios"
	"trainsim/sim/input"
	"trainsim/sim/job"
	"trainsim/sim/model"
)

// run turns the row into a training run. Nothing but widths, degrees and settings goes
// into its Config: two rows that differ in free text have equal ones.
func (r *record) run(known *presets) trainingRun {
	run := trainingRun{ID: r.text("id"), Quality: r.text("quality")}
	run.Family = familyOf(run.ID)
	run.OOM = r.word("outcome", "ok") == "oom"
	run.MemoryBytes = int64(r.measure("peak_mem_gib") * (1 << 30))
	run.MemoryMetric = memoryMetric(r.word("mem_metric", string(allocated)))
	cfg := r.config(known)
	if cfg != nil && r.skipped == "" {
		r.check(cfg)
	}
	if cfg != nil && r.skipped == "" {
		run.Seconds = r.seconds(cfg)
	}
	if run.Skipped = r.skipped; run.Skipped == "" {
		run.Config = cfg
	} else if t := r.measure("iter_time_s"); t > 0 {
		run.Seconds = t
	}
	return run
}

// familyOf returns the part of an id before its last dash.
func familyOf(id string) string {
	if i := strings.LastIndexByte(id, '-'); i > 0 {
		return id[:i]
	}
	return id
}

// config fills a Config from the cells; nil when there is no such cluster.
func (r *record) config(known *presets) *job.Config {
	base, err := known.cluster(r.text("cluster"))
	if err != nil {
		r.skip("cluster", "%v", err)
		return nil
	}
	cfg := *base
	cfg.Name = "run"
	r.model(&cfg.Model)
	cfg.Model.Complete()
	r.parallel(&cfg.Parallel)
	r.nodes(&cfg)
	cfg.Cluster.ComputeCapability = cmp.Or(cfg.Cluster.ComputeCapability, cfg.GPU.ComputeCapability)
	cfg.Training = job.Training{
		Precision: r.word("precision", ""), GradPrecision: r.word("grad_precision", "fp32"), Optimizer: "adam",
		Recompute: r.word("recompute", "none"), Dropout: r.flag("dropout"),
	}
	if err := r.software(&cfg, known); err != nil {
		r.skip("software", "%v", err)
		return nil
	}
	// NVIDIA's recipes keep FP8 weights (Megatron-Bridge, training/mixed_precision.py).
	cfg.KeepFP8Weights()
	r.schedule(&cfg)
	return &cfg
}

// model reads the transformer. What the columns do not say follows from the
// kind of block: gated blocks with RMS norms rotate queries and keys and have
// no biases (Llama), the others learn positions and have biases (GPT).
func (r *record) model(m *model.Config) {
	if r.preset != nil {
		*m = *r.preset
		cut(m, int64(r.count("layers", int(m.Layers))))
		m.SeqLen = int64(r.count("seq", 0))
		r.experts(m)
		m.KVHeads = int64(r.count("kv_heads", int(m.KV())))
		m.Attention = model.AttentionKind(r.word("attention", ""))
		return
	}
	m.Layers, m.Hidden = int64(r.count("layers", 0)), int64(r.count("hidden", 0))
	m.Heads = int64(r.count("heads", 0))
	m.KVHeads = int64(r.count("kv_heads", int(m.Heads)))
	m.FFN, m.Vocab = int64(r.count("ffn", 0)), int64(r.count("vocab", 0))
	m.SeqLen = int64(r.count("seq", 0))
	r.experts(m)
	m.MLP, m.Norm = model.MLP(r.word("mlp", "")), model.Norm(r.word("norm", ""))
	m.Attention = model.AttentionKind(r.word("attention", ""))
	m.TieEmbeddings = r.flag("tie_embeddings")
	m.Position, m.LinearBias, m.QKVBias = model.Learned, true, true
	if m.Norm == model.RMSNorm {
		m.Position, m.LinearBias, m.QKVBias = model.Rotary, false, false
	}
}

// cut gives a model another number of layers, of which as large a share as
// before is dense, at least one where any is.
func cut(m *model.Config, layers int64) {
	if m.DenseLayers > 0 && layers < m.Layers {
		m.DenseLayers = min(layers, max(1, (m.DenseLayers*layers+m.Layers/2)/m.Layers))
	}
	m.Layers = layers
}

// experts reads what a mixture of experts and latent attention have beside the
// rest.
func (r *record) experts(m *model.Config) {
	for _, c := range []struct {
		column string
		to     *int64
	}{
		{"experts", &m.Experts}, {"experts_per_token", &m.ExpertsPerToken}, {"expert_ffn", &m.ExpertFFN},
		{"shared_expert_ffn", &m.SharedExpertFFN}, {"dense_layers", &m.DenseLayers}, {"head_dim", &m.HeadDim},
		{"kv_lora_rank", &m.KVLoraRank}, {"q_lora_rank", &m.QLoraRank},
		{"rope_head_dim", &m.RopeHeadDim}, {"v_head_dim", &m.VHeadDim},
	} {
		if r.text(c.column) != "" && r.text(c.column) != "0" {
			*c.to = int64(r.count(c.column, 0))
		}
	}
	m.ExpertCapacity = r.measure("expert_capacity")
}

func (r *record) parallel(p *job.Parallel) {
	p.TP, p.PP, p.DP = r.count("tp", 0), r.count("pp", 0), r.count("dp", 0)
	p.CP, p.EP, p.ETP = r.count("cp", 1), r.count("ep", 1), r.count("etp", p.TP)
	p.SequenceParallel = r.flag("sequence_parallel")
	p.ZeRO = int(r.word("zero", "0")[0] - '0')
	if p.ZeRO >= 2 {
		p.FSDPGroup = r.count("fsdp", p.DP)
		if n := p.FSDPGroup; n == 1 || n == p.DP*p.CP { // not stated, or counted with context parallelism
			p.FSDPGroup = p.DP
		}
	}
	p.OverlapGradReduce, p.OverlapParamGather = r.flag("overlap_grad_reduce"), r.flag("overlap_param_gather")
	p.OverlapTP = r.flag("overlap_tp")
	p.CPComm = r.word("cp_comm", "auto")
}

// maxGPUs is how many GPUs a run may have: the largest clusters that exist.
const maxGPUs = 1 << 18

// nodes spreads the job's GPUs over as few nodes as hold them, the same number
// on each.
func (r *record) nodes(cfg *job.Config) {
	gpus, per := r.count("gpus", 0), max(cfg.Cluster.NodeGPUs(), 1)
	if gpus > maxGPUs {
		r.skip("gpus", "%d GPUs are more than are simulated; write at most %d", gpus, maxGPUs)
		return
	}
	nodes := (gpus + per - 1) / per
	if gpus%nodes != 0 {
		r.skip("gpus", "%d GPUs do not spread evenly over %d nodes of %d; write a count that does", gpus, nodes, per)
		return
	}
	cfg.Cluster.Nodes = nodes
	if used := gpus / nodes; used < per {
		cfg.Cluster.VisibleDevices = make([]int, used)
		for i := range used {
			cfg.Cluster.VisibleDevices[i] = i
		}
	}
}

// check asks the scenario's own checks whether the job can be.
func (r *record) check(cfg *job.Config) {
	var wrong *input.Errors
	if errors.As(scenarios.Check(cfg), &wrong) {
		r.skip("id", "%v", &wrong.Problems[0])
	}
}

// seconds returns the measured step time, from a rate where no time was
// published: the rate times the time is the step's operations on a GPU.
func (r *record) seconds(cfg *job.Config) float64 {
	rate := r.measure("tflops_per_gpu") * 1e12
	if t := r.measure("iter_time_s"); t > 0 {
		return t
	} else if rate == 0 {
		return 0
	}
	flops := 3 * cfg.Model.FLOPs()
	if r.word("flops_basis", "model") == "hardware" && cfg.Training.Recompute == "full" {
		flops += cfg.Model.LayersFLOPs()
	}
	t := flops * float64(cfg.Tokens()) / float64(cfg.Parallel.World()) / rate
	if math.IsInf(t, 0) || math.IsNaN(t) {
		return 0
	}
	return t
}
