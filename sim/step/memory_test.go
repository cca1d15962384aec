package step_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim"
	"trainsim/sim/job"
	"trainsim/sim/job/jobtest"
	"trainsim/sim/step"
	"trainsim/sim/trace"
)

// The time of a failure is that of its operator: when the stack of what a larger
// device would hold first has the bytes that were not there.
func TestTimeOfAFailure(t *testing.T) {
	c := jobtest.Eager(t)
	c.Evaluation = job.Evaluation{Batches: 2, BatchSize: 128, KeepActivations: true}
	c.GPU.Memory /= 2
	res := run(t, c, step.Options{})
	require.NotNil(t, res.OOM)
	assert.Equal(t, 0, res.OOM.Step, "the first evaluation")
	e := res.OOM.Err
	var stack int64
	held := map[int32]int64{}
	for _, s := range res.Recording.Samples() {
		if k := res.Recording.Counters[s.Counter]; k.Kind != trace.MemoryByKind {
			continue
		}
		stack += s.Value - held[s.Counter]
		held[s.Counter] = s.Value
		if stack >= e.Allocated+e.External+e.Rounded {
			assert.Equal(t, s.At, res.OOMAt)
			return
		}
	}
	assert.Fail(t, "the stack never grows so high")
}

// A layout that lives on retries pays for the driver's work; with room it is
// free of it.
func TestRetriesCostTime(t *testing.T) {
	c := jobtest.Eager(t)
	c.Schedule.Microbatches, c.Schedule.MicrobatchSize = 4, 4
	c.Data = job.Data{Lengths: "uniform", MinLength: 64, Steps: 6}
	c.Memory.AllocConf = "max_split_size_mb:21" // large blocks serve their like only
	free := run(t, c, step.Options{})
	require.Nil(t, free.OOM)
	m, slowest := free.Memory[0], free.StepTime
	for k := int64(15); k > 0; k-- {
		c.GPU.Memory = sim.Bytes(m.PeakAllocated + m.Outside + (m.PeakReserved-m.PeakAllocated)*k/16)
		tight := run(t, c, step.Options{})
		if tight.OOM != nil {
			break
		}
		slowest = max(slowest, tight.StepTime)
	}
	assert.Greater(t, slowest, free.StepTime)
	c.Memory.AllocConf = "expandable_segments:True"
	assert.Less(t, run(t, c, step.Options{}).StepTime, slowest)
}
