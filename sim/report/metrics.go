package report

import (
	"fmt"
	"math"

	"trainsim/sim/account"
	"trainsim/sim/step"
)

// Metrics is what a comparison of many runs keeps of each: seconds, bytes,
// shares of one.
type Metrics struct {
	GPUs             int     `json:"gpus"`
	Samples          int64   `json:"samples"` // of a step, over all replicas
	StepTime         float64 `json:"step_time_s"`
	SampleTime       float64 `json:"time_per_sample_s"` // step time / samples
	TokensPerS       float64 `json:"tokens_per_s"`
	TokensPerSPerGPU float64 `json:"tokens_per_s_per_gpu"`
	ModelTFLOPS      float64 `json:"model_tflops_per_gpu"`
	MFU              float64 `json:"mfu"`
	Bubble           float64 `json:"bubble_over_total"`
	ExposedComm      float64 `json:"exposed_comm_over_total"` // mean over the stages
	PeakMemory       int64   `json:"peak_memory_bytes"`       // of the fullest GPU, as nvidia-smi shows it
	Capacity         int64   `json:"capacity_bytes"`
}

// Headroom returns the bytes that the fullest GPU has left; negative where the
// job does not fit.
func (m *Metrics) Headroom() int64 { return m.Capacity - m.PeakMemory }

// metricsOf condenses a run. The times of a job that runs out of memory are
// those of GPUs with memory enough.
func metricsOf(res *step.Result) *Metrics {
	var r Report
	r.StepTime = res.StepTime.Seconds()
	r.rates(res)
	m := &Metrics{
		GPUs: res.Job.Ranks(), Samples: res.Job.Config.Samples(), StepTime: r.StepTime,
		TokensPerS: r.TokensPerS, TokensPerSPerGPU: r.TokensPerSPerGPU, ModelTFLOPS: r.ModelTFLOPS, MFU: r.MFU,
		Bubble: bubble(res).OverTotal,
	}
	if m.Samples > 0 {
		m.SampleTime = m.StepTime / float64(m.Samples)
	}
	for s, t := range res.Stages {
		if m.StepTime > 0 {
			m.ExposedComm += stageTime(s, t, res.StepTime).ExposedComm / m.StepTime / float64(len(res.Stages))
		}
	}
	m.PeakMemory, m.Capacity = fullest(res.Memory)
	return m
}

// fullest returns the largest peak of any stage, and that GPU's capacity.
func fullest(accounts []account.RankMemory) (peak, capacity int64) {
	for i := range accounts {
		if m := &accounts[i]; m.NvidiaSMI() > peak {
			peak, capacity = m.NvidiaSMI(), m.Capacity
		}
	}
	return peak, capacity
}

// MemoryReason says in one line where a job runs out of memory, from its
// accounts; it is empty where the job fits.
func MemoryReason(accounts []account.RankMemory) string {
	worst := -1
	for i := range accounts {
		if m := &accounts[i]; !m.Fits() && (worst < 0 || m.NvidiaSMI() > accounts[worst].NvidiaSMI()) {
			worst = i
		}
	}
	if worst < 0 {
		return ""
	}
	m := &accounts[worst]
	how := ""
	if m.OOM.Phase == account.Fragmentation {
		how = " for want of one piece (fragmentation)"
	}
	return fmt.Sprintf("stage %d needs %s, most of it for %s; it fails in %s%s", m.Stage,
		needs(m.NvidiaSMI(), m.Outside, m.Capacity, m.Allowed), largest(atPeak(m)), m.OOM.Action, how)
}

// check reports a value that no run can have.
func (m *Metrics) check() error {
	for _, v := range []struct {
		key   string
		value float64
		most  float64
	}{
		{"step_time_s", m.StepTime, math.Inf(1)}, {"time_per_sample_s", m.SampleTime, math.Inf(1)},
		{"tokens_per_s", m.TokensPerS, math.Inf(1)}, {"tokens_per_s_per_gpu", m.TokensPerSPerGPU, math.Inf(1)},
		{"model_tflops_per_gpu", m.ModelTFLOPS, math.Inf(1)}, {"mfu", m.MFU, math.Inf(1)},
		{"bubble_over_total", m.Bubble, 1}, {"exposed_comm_over_total", m.ExposedComm, 1},
		{"peak_memory_bytes", float64(m.PeakMemory), math.Inf(1)}, {"capacity_bytes", float64(m.Capacity),
			math.Inf(1)},
	} {
		if !(v.value >= 0 && v.value <= v.most*(1+1e-9)) {
			return fmt.Errorf("%s is %g", v.key, v.value)
		}
	}
	if m.GPUs < 1 || m.Samples < 1 {
		return fmt.Errorf("gpus is %d and samples is %d", m.GPUs, m.Samples)
	}
	return nil
}
