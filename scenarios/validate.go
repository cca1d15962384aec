package scenarios

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"trainsim/interconnect"
	"trainsim/memory"
	"trainsim/sim/gpu"
	"trainsim/sim/input"
	"trainsim/sim/job"
)

// Check says what cannot be about a job that a program made rather than a file:
// nil, or an [*input.Errors] whose problems have keys and no places.
func Check(cfg *job.Config) error {
	l := newLoader(nil)
	l.root = newTable(input.Span{}, input.Span{})
	l.validate(cfg)
	return l.out.Err()
}

// validate checks the decoded scenario for what cannot be. A check is left out
// when a key that it reads has failed already.
func (l *loader) validate(cfg *job.Config) {
	l.checkName(cfg.Name)
	l.checkModel(cfg)
	l.checkMachine(cfg)
	l.checkMisfits(cfg, l.checkLayout(cfg))
	l.checkSchedule(cfg)
	l.checkSize(cfg)
	l.checkTraining(cfg)
	if !l.dec.isBad("data") {
		l.owned("data", cfg.Data.Validate(cfg.Model.Tokens()))
	}
	if !l.dec.isBad("faults") {
		l.owned("faults", cfg.Faults.Validate(cfg.Parallel.World()))
	}
	l.checkSlowLinks(cfg)
}

// MaxName is how many bytes long a scenario's name may be: it becomes the name of
// a folder.
const MaxName = 200

// checkName looks for what neither a terminal nor a file system should get.
func (l *loader) checkName(name string) {
	if l.dec.isBad("name") {
		return
	}
	whose := ""
	if l.root.get("name") == nil {
		whose = "is the file's, which "
	}
	if !utf8.ValidString(name) {
		l.problem("name", nil, "%sis not UTF-8; write another name", whose)
		return
	}
	for i, r := range []rune(name) {
		if !unicode.IsPrint(r) && r != '\t' {
			l.problem("name", nil, "%shas %U as character %d; write one of printable characters", whose, r, i+1)
			return
		}
	}
	if len(name) > MaxName {
		l.problem("name", nil, "%sis %d bytes long; write one of at most %d, as folders get it", whose, len(name),
			MaxName)
	}
}

// checkSlowLinks looks for the slow links in the cluster, once all else is right:
// only then can it be built.
func (l *loader) checkSlowLinks(cfg *job.Config) {
	if len(cfg.Faults.Links) == 0 || l.out.Len() > 0 {
		return
	}
	t, err := interconnect.Build(cfg.Cluster)
	if err != nil {
		return // the job says so
	}
	l.owned("faults", cfg.Faults.ValidateLinks(t))
}

func (l *loader) checkModel(cfg *job.Config) {
	if l.dec.isBad("model") {
		return
	}
	if l.root.table("model").get("layers") == nil && !l.dec.isBad("model.layers") && cfg.Model.Empty() {
		l.problem("model", nil, "says no model; write preset = \"llama-2-70b\" (trainsim list models), hf_config = "+
			"\"config.json\", or the widths")
		return
	}
	if l.dec.isBad("model.hidden") {
		l.dec.bad["model.ffn"] = true // it follows from hidden
	}
	l.owned("model", cfg.Model.Validate())
}

// checkMachine asks the owners of the device, the cluster and NCCL's settings.
func (l *loader) checkMachine(cfg *job.Config) {
	cluster := !l.dec.isBad("cluster")
	if cluster && cfg.GPU.SMs == 0 && cfg.GPU.Name == "" && !l.dec.isBad("gpu") {
		l.problem("cluster", nil, "says no machine; write preset = \"dgx-h100\" (trainsim list clusters), or gpu = "+
			"\"h100-sxm5-80gb\" (trainsim list gpus) and gpus_per_node")
		return
	}
	if cluster {
		l.owned("cluster", cfg.Cluster.Validate())
	}
	if !l.dec.isBad("gpu") && !l.dec.isBad("cluster.gpu") && !l.dec.isBad("cluster.preset") {
		l.owned("gpu", cfg.GPU.Validate())
	}
	l.owned("nccl", cfg.NCCL.Validate())
}

func (l *loader) checkTraining(cfg *job.Config) {
	t := &cfg.Training
	if t.Recompute == "every-n" && t.RecomputeN < 1 {
		l.problem("training.recompute_layers", []string{"training.recompute"},
			"%d is not a number of layers; write 1 or more", t.RecomputeN)
	}
	if g := &cfg.GPU; t.Precision == "fp8" && g.Rates.FP8 == 0 && !l.dec.isBad("gpu.peak.fp8") {
		l.problem("training.precision", []string{"gpu"}, "%s has no FP8; write %q, or a GPU that has it (peak.fp8 "+
			"of its preset)", cmp.Or(g.Name, "the GPU"), widest16(g))
	}
	if p := cfg.FP8WeightsProblem(); p != nil {
		l.problem(p.Key, p.Others(), "%s", p.Text)
	}
	if w := cfg.LoRA.UnknownTarget(&cfg.Model); w != "" && !l.dec.isBad("model") {
		l.problem("lora.targets", nil, "%q is no matrix of the model's layers; write any of %s", w,
			strings.Join(cfg.Model.TargetWords(), ", "))
	}
	if cfg.Memory.Fraction <= 0 {
		l.problem("memory.memory_fraction", nil, "0 leaves no memory; write a share above 0 and at most 1.0")
	}
	if conf, err := memory.ParseConf(cfg.Memory.AllocConf); err != nil {
		l.problem("memory.alloc_conf", nil, "%v", err)
	} else if conf.Backend != "" && conf.Backend != "native" {
		l.problem("memory.alloc_conf", nil, "backend:%s is CUDA's allocator, of which there is no model; leave the "+
			"backend out, which is PyTorch's native one", conf.Backend)
	}
}

// widest16 is the 16-bit format in which a GPU's tensor cores multiply, bf16
// where there are both.
func widest16(g *gpu.Device) string {
	if g.Rates.BF16 > 0 {
		return "bf16"
	}
	return "fp16"
}
