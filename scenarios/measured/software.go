package measured

import (
	"strings"

	"trainsim/scenarios"
	"trainsim/sim/job"
)

// unnamed returns the software of a row that names none: Megatron-Core with
// Transformer Engine on GPUs with FP8, for which that is made, Megatron-LM before.
func unnamed(cfg *job.Config) string {
	if cfg.GPU.Generation().FP8 {
		return "megatron-core-te"
	}
	return "megatron-lm"
}

// software sets what the row's software decides and its environment changes.
func (r *record) software(cfg *job.Config, known *presets) error {
	name := r.text("software")
	if name == "" {
		name = unnamed(cfg)
	}
	if err := scenarios.SetFramework(cfg, name, r.text("software_date"), known.dir); err != nil {
		return err
	}
	f := &cfg.Framework
	cfg.Model.VocabMultiple = f.VocabMultiple
	cfg.Training.LossMetrics = f.LossMetrics
	cfg.Parallel.BackwardPrefetch = string(f.BackwardPrefetch)
	r.environment(cfg)
	return nil
}

// environment reads variables and modes, separated by semicolons.
func (r *record) environment(cfg *job.Config) {
	for word := range strings.SplitSeq(r.text("environment"), ";") {
		switch word = strings.TrimSpace(word); word {
		case "", "CUDA_DEVICE_MAX_CONNECTIONS=1", "CUDA_LAUNCH_BLOCKING=0", "deterministic":
		case "CUDA_LAUNCH_BLOCKING=1":
			cfg.Host.LaunchBlocking = true
		default:
			r.skip("environment",
				"%q is not known; write CUDA_LAUNCH_BLOCKING=1, CUDA_DEVICE_MAX_CONNECTIONS=1 or deterministic", word)
		}
	}
}
