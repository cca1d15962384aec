package report

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/sim"
	"trainsim/sim/step"
	"trainsim/sim/trace"
)

// Four equal stages of 1F1B with 8 micro-batches of f = 1 s, b = 2 s: the
// makespan is 8*3 + 3*3 s, and every stage but the first starts later.
func TestDefinitionsOfTheBubble(t *testing.T) {
	var stages []step.StageTime
	for s := range sim.Time(4) {
		stages = append(stages, step.StageTime{First: s * sim.Second, Last: (33 - 2*s) * sim.Second, Busy: 24 * sim.Second})
	}
	d := definitions(stages)
	assert.InDelta(t, 9, d.Makespan, 1e-12)
	assert.InDelta(t, 3.0/8, d.OverIdeal, 1e-12)
	assert.InDelta(t, 3.0/11, d.OverTotal, 1e-12)
	assert.InDelta(t, 9, d.Span, 1e-12)
}

// What idle time grows by through faults is the straggler's.
func TestCostOfFaults(t *testing.T) {
	res := &step.Result{Healthy: []step.StageTime{{Warmup: 3, Cooldown: 2, Comm: [trace.NumDimensions]sim.Time{trace.PP: 1}}}}
	warm, cool, uneven, comm := sim.Time(5), sim.Time(1), sim.Time(4), sim.Time(1)
	assert.Equal(t, sim.Time(2+4), costOfFaults(res, &warm, &cool, &uneven, &comm))
	assert.Equal(t, []sim.Time{3, 1, 0, 1}, []sim.Time{warm, cool, uneven, comm})
	assert.Nil(t, faults(&step.Result{StepTime: 5}), "a healthy cluster")
	res.StepTime, res.HealthyStep = 5*sim.Second, 3*sim.Second
	assert.Equal(t, &Faults{HealthyStep: 3, Cost: 2}, faults(res))
}
