package step_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/sim"
	"trainsim/sim/framework"
	"trainsim/sim/job/jobtest"
	"trainsim/sim/step"
)

// TestFasterHostsAreNoSlower: a host that launches in no time makes no step longer.
// Kernels and collectives stay the same, which another framework's would not.
func TestFasterHostsAreNoSlower(t *testing.T) {
	for seed := range jobtest.Cases(200) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := anyConfig(t, sim.NewRand(seed, "faster"))
			slow := run(t, c, step.Options{Fold: true})
			c.Framework.Host = framework.Host{}
			assert.LessOrEqual(t, run(t, c, step.Options{Fold: true}).StepTime, slow.StepTime)
		})
	}
}

// TestFasterCollectivesAreNoSlower: where ideal rings bring no kind of collective
// to take longer, they make no step longer. Where NCCL sums in the switches or by
// trees they may, and the step with them. Of all jobs drawn for this none has shown
// that better pieces make a worse whole, as orders of work can, so that nothing is
// allowed for it.
func TestFasterCollectivesAreNoSlower(t *testing.T) {
	compared := 0
	jobs := jobtest.Cases(200)
	for seed := range jobs {
		c := anyConfig(t, sim.NewRand(seed, "faster"))
		c.NCCL.Model = "nccl"
		nccl := run(t, c, step.Options{Fold: true})
		c.NCCL.Model = "ideal"
		ideal := run(t, c, step.Options{Fold: true})
		faster := true
		for i := range ideal.Comms {
			faster = faster && ideal.Comms[i].Seconds <= nccl.Comms[i].Seconds
		}
		if faster {
			compared++
			assert.LessOrEqual(t, ideal.StepTime, nccl.StepTime, "seed %d", seed)
		}
	}
	assert.Greater(t, compared, int(jobs)/2)
}
