package plots

import (
	"fmt"

	"trainsim/plots/chart"
	"trainsim/sim/report"
)

// titleOf returns "scenario: what", with the option in place of the scenario.
func titleOf(o chart.Options, rep *report.Report, what string) string {
	name := o.Title
	if name == "" && rep != nil {
		name = rep.Name()
	}
	if name == "" {
		return what
	}
	return name + ": " + what
}

// stepFacts says the step time, the bubble and the MFU where they are known.
func stepFacts(rep *report.Report) string {
	if rep == nil {
		return ""
	}
	var step, bubble, mfu, oom string
	if rep.StepTime > 0 {
		step = "step time " + chart.Seconds(rep.StepTime)
		if rep.Steps != nil {
			step = fmt.Sprintf("mean step time %s (%s to %s)", chart.Seconds(rep.StepTime),
				chart.Seconds(rep.Steps.Min), chart.Seconds(rep.Steps.Max))
		}
		if rep.Evaluation != nil {
			step += ", evaluation " + chart.Seconds(rep.Evaluation.Seconds)
		}
		bubble = "pipeline bubble " + chart.Percent(rep.Bubble.OverTotal) + " of the step"
	}
	if rep.MFU > 0 {
		mfu = "MFU " + chart.Percent(rep.MFU)
	}
	if rep.OOM != nil {
		oom = "OUT OF MEMORY on rank " + fmt.Sprint(rep.OOM.Rank)
	}
	return chart.Facts(oom, step, bubble, mfu)
}
