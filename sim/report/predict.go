package report

import (
	"trainsim/sim/account"
	"trainsim/sim/step"
)

// Predict fills the prediction of a row from a run. The memory is that of the
// fullest rank, by the metric of the row.
func (s *Scored) Predict(res *step.Result) {
	t := res.StepTime.Seconds()
	s.Predicted = &t
	s.OutcomePredicted = OutcomeOK
	if res.OOM != nil {
		s.OutcomePredicted = OutcomeOOM
	}
	s.PredictPeak(res.Memory)
}

// PredictPeak fills the prediction of memory by that of the fullest rank, by the
// metric of the row.
func (s *Scored) PredictPeak(ranks []account.RankMemory) {
	var most int64
	for i := range ranks {
		most = max(most, memoryBy(&ranks[i], s.MemoryMetric))
	}
	s.PredictedBytes = &most
}

// PredictMemory fills the prediction of one rank's memory, by the metric of the
// row.
func (s *Scored) PredictMemory(m *account.RankMemory) {
	bytes := memoryBy(m, s.MemoryMetric)
	s.PredictedBytes = &bytes
}

// memoryBy returns the figure of a rank's memory that a metric names.
func memoryBy(m *account.RankMemory, metric string) int64 {
	switch metric {
	case "reserved":
		return m.PeakReserved
	case "nvidia_smi":
		return m.NvidiaSMI()
	}
	return m.PeakAllocated
}
