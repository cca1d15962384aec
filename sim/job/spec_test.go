package job_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/sim/account"
	"trainsim/sim/job"
	"trainsim/sim/job/jobtest"
	"trainsim/sim/model"
)

// TestScatterGather: DeepSpeed's ranks send a part of a hand-off each and
// collect it on arrival, except under sequence parallelism.
func TestScatterGather(t *testing.T) {
	bytes := func(framework string, sp bool) (handOff, gathered int64) {
		c := jobtest.Small(t, job.Parallel{TP: 4, PP: 2, DP: 1, SequenceParallel: sp}, "1f1b", 2)
		c.GPU = jobtest.Device(t, "a100-sxm4-80gb")
		jobtest.SetFramework(t, c, framework)
		j, err := job.Build(context.Background(), c, account.Peaks)
		assert.NoError(t, err)
		chunk := j.Spec.Build(model.Run{Layers: 1})
		for _, op := range chunk.Forward {
			if op.Name == "recv_forward.all_gather" {
				gathered = op.Comm.Bytes
			}
		}
		return chunk.Output, gathered
	}
	whole := int64(1024 * 1024 * 2)
	for _, x := range []struct {
		framework         string
		sp                bool
		handOff, gathered int64
	}{{"deepspeed", false, whole / 4, whole}, {"deepspeed", true, whole / 4, 0}, {"megatron", false, whole, 0}} {
		h, g := bytes(x.framework, x.sp)
		assert.Equal(t, []int64{x.handOff, x.gathered}, []int64{h, g}, "%s %v", x.framework, x.sp)
	}
}

// TestAddedGrads: plain PyTorch adds the gradients of every micro-batch in
// kernels of their own, Megatron in the product.
func TestAddedGrads(t *testing.T) {
	c := jobtest.Small(t, job.Parallel{TP: 1, PP: 1, DP: 1}, "1f1b", 2)
	sums := func(framework string) (n int) {
		jobtest.SetFramework(t, c, framework)
		j, err := job.Build(context.Background(), c, account.Peaks)
		assert.NoError(t, err)
		for _, op := range j.Spec.Build(model.Run{Layers: 1}).Backward {
			if strings.HasSuffix(op.Name, ".add_grad") {
				n++
			}
		}
		return n
	}
	assert.Equal(t, 4, sums("eager"), "one for each matrix of a layer")
	assert.Zero(t, sums("megatron"))
}
