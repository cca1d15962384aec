package job

import (
	"trainsim/sim/input"
	"trainsim/sim/model"
)

// Misfits returns every reason for which the model cannot be cut over the job's
// ranks.
func (c *Config) Misfits() []*input.Problem {
	l := c.ModelLayout()
	return c.Model.Misfits(&l)
}

// ModelLayout is the job's layout as far as the model's layers care.
func (c *Config) ModelLayout() model.Layout {
	p := &c.Parallel
	return model.Layout{
		TP: p.TP, CP: p.CP, EP: p.EP, ExpertTP: p.ExpertTP(), Stage: p.RanksPerStage(), ZeRO: p.ZeRO,
		SequenceParallel: p.SequenceParallel, CPComm: p.CPComm,
		Framework: c.Framework.Name, DenseOnly: !c.Framework.Experts, LoRA: c.LoRA,
	}
}
