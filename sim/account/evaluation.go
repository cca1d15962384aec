package account

// evaluate replays the allocations of the evaluation after a step. What a pass
// keeps goes when its loss does, at its end.
func (a *replay) evaluate() {
	script := a.job.Stages[a.stage].Evaluation
	if a.failed() || len(script) == 0 {
		return
	}
	before := a.alloc.PeakAllocated()
	a.mark(true)
	for i := range script {
		a.action = int32(i)
		a.runAction(&script[i])
		if a.failed() {
			a.failure.inEvaluation = true
			return
		}
	}
	a.peakInEvaluation = a.peakInEvaluation || a.alloc.PeakAllocated() > before
	a.alloc.DriverWork() // what came after the last pass is nobody's
}
