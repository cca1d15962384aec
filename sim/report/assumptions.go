package report

import (
	"fmt"

	"trainsim/sim/job"
)

// assumptions says what the figures rest on.
func assumptions(j *job.Job) []string {
	c := j.Config
	spec := j.Spec
	out := []string{
		fmt.Sprintf("MFU and HFU are against %s's dense peak of %.6g TFLOP/s (%s); model FLOPs count matrix "+
			"products and the full attention square, 3x forward.",
			c.GPU.Name, c.GPU.Peak(spec.Precision)/1e12, c.Training.Precision),
		"The bubble is the mean over stages of waiting for other stages and for hand-offs in flight; over_total " +
			"divides by the step, over_ideal by the step without it.",
	}
	if slow := c.GPU.SlowestOf(c.Parallel.World()); slow > 1 {
		out = append(out, fmt.Sprintf("Cards differ: matrix products and attention go at the pace of the slowest "+
			"of %d, %.1f %% below a typical one's.", c.Parallel.World(), 100*(slow-1)))
	}
	if c.Parallel.DP*c.Parallel.CP > 1 {
		out = append(out, gradientAssumption(c))
	}
	out = append(out, c.Model.Assumptions()...)
	if c.Parallel.PP > 1 {
		how := "overlap computation"
		if c.Schedule.BlockingP2P {
			how = "stop the compute stream until they arrive"
		}
		out = append(out, "Sends and receives between stages "+how+".")
	}
	if j.Dynamic() {
		out = append(out, fmt.Sprintf("Each replica draws its sequences' lengths; a micro-batch is padded to its "+
			"longest. Figures are means over %d steps behind one that warms up; waiting for a replica with longer "+
			"sequences counts as data-parallel communication. Memory is that of the first replica.", j.Steps()-1))
	}
	if c.Evaluation.Batches > 0 {
		out = append(out, "The evaluation begins when all ranks have ended the step, on sequences of the model's "+
			"length; it is in no figure of the step.")
	}
	out = append(out,
		"Collectives that overlap computation take one multiprocessor a channel and, while in flight, memory "+
			"bandwidth from the kernels beside them: about three bytes for each on the bus.",
		"Not modelled: data loading, checkpoints, thermal throttling, "+jitter(c)+"other jobs on the fabric.")
	return out
}

// jitter names jitter among what is not modelled, unless the scenario has some.
func jitter(c *job.Config) string {
	if c.Faults.Jitter > 0 {
		return ""
	}
	return "jitter, "
}

func gradientAssumption(c *job.Config) string {
	switch {
	case c.Parallel.ZeRO >= 2 && c.Parallel.PP > 1:
		return "FSDP in a pipeline gathers a stage's weights once a step and scatters gradients behind the last " +
			"micro-batch; in between both are whole, whatever the stage of ZeRO."
	case c.Parallel.ZeRO >= 2:
		return "Gradients are scattered behind each layer's backward, in every micro-batch, beside the " +
			"computation (FSDP)."
	case c.Parallel.OverlapGradReduce:
		return "Gradients are reduced in buckets beside the last micro-batch's backward."
	}
	return "Gradients are reduced after the last backward, with nothing beside it."
}
