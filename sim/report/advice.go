package report

import (
	"context"
	"fmt"
	"math"

	"trainsim/sim/job"
	"trainsim/sim/report/quantity"
	"trainsim/sim/step"
	"trainsim/sim/trace"
)

// Thresholds of the advice, as shares of the step.
const (
	exposedDPLimit = 0.30
	bubbleLimit    = 0.15
	hostLimit      = 0.10
	ampleMemory    = 0.75 // of the capacity, after turning recomputation off
)

// advise looks for what should be changed, the gravest first.
func advise(ctx context.Context, res *step.Result, r *Report) []Advice {
	out := []Advice{}
	adviseMemory := func(res *step.Result, r *Report) *Advice { return adviseMemory(ctx, res, r) }
	adviseRecompute := func(res *step.Result, r *Report) *Advice { return adviseRecompute(ctx, res, r) }
	for _, f := range []func(*step.Result, *Report) *Advice{
		adviseMemory, adviseTensorParallel, adviseDataParallel, adviseBubble, adviseHost, adviseRecompute,
	} {
		if a := f(res, r); a != nil {
			out = append(out, *a)
		}
	}
	return out
}

// adviseMemory names the nearest settings that fit.
func adviseMemory(ctx context.Context, res *step.Result, r *Report) *Advice {
	if r.OOM == nil {
		return nil
	}
	o := r.OOM
	text := fmt.Sprintf("rank %d needs %s; most of it is %s", o.Rank, o.Needs(), largest(o.AtPeak))
	if p := o.Prefetched; p != nil && 10*p.Bytes > o.Needed {
		text += fmt.Sprintf(", with %s of prefetched batches", quantity.GiB(p.Bytes))
	}
	a := &Advice{Code: "out-of-memory", Severity: "error", Text: text}
	fixes := Fixes(ctx, res.Job.Config)
	if len(fixes) == 0 {
		a.Text += "; no single change of recomputation, micro-batch, sharding or layout makes it fit: use more " +
			"GPUs, or GPUs with more memory"
		o.Suggestion = a.Text
		return a
	}
	a.Text += "; it fits with " + fixes[0].Text
	for _, f := range fixes[1:] {
		a.Text += ", or with " + f.Text
	}
	a.Change = fixes[0].Change
	o.Suggestion = "it fits with " + fixes[0].Text
	return a
}

// adviseTensorParallel warns of tensor parallelism across nodes.
func adviseTensorParallel(res *step.Result, _ *Report) *Advice {
	c := res.Job.Config
	perNode := c.Cluster.DomainSize()
	if perNode <= 0 || c.Parallel.TP <= perNode {
		return nil
	}
	tp := perNode
	for c.Parallel.TP%tp != 0 {
		tp--
	}
	return &Advice{Code: "tp-across-nodes", Severity: "warning",
		Text: fmt.Sprintf("tensor parallelism over %d ranks leaves the node of %d GPUs, so every layer waits "+
			"for the network; keep it inside a node and use pipeline or data parallelism between nodes",
			c.Parallel.TP, perNode),
		Change: map[string]any{"parallel.tp": tp, "parallel.pp": c.Parallel.PP * c.Parallel.TP / tp}}
}

// adviseDataParallel names what hides or shrinks the gradients' exchange.
func adviseDataParallel(res *step.Result, r *Report) *Advice {
	var worst float64
	for _, t := range r.TimePerStage {
		worst = max(worst, t.Comm[trace.DP])
	}
	if worst <= exposedDPLimit*r.StepTime {
		return nil
	}
	c := res.Job.Config
	a := &Advice{Code: "dp-comm-exposed", Severity: "warning",
		Text: fmt.Sprintf("exposed data-parallel communication takes %.0f %% of the step", 100*worst/r.StepTime)}
	if !c.Parallel.OverlapGradReduce && c.Parallel.ZeRO < 2 {
		a.Text += "; overlap it with the backward (parallel.overlap_grad_reduce), or"
		a.Change = map[string]any{"parallel.overlap_grad_reduce": true}
	} else {
		a.Text += ";"
		a.Change = map[string]any{"schedule.microbatches": accumulate(res, worst, r.StepTime)}
	}
	a.Text += fmt.Sprintf(" accumulate over %d micro-batches, which exchanges gradients as often but computes "+
		"more in between%s",
		accumulate(res, worst, r.StepTime), shardAdvice(&c.Parallel))
	return a
}

// shardAdvice names what sharding can still do for the exchange.
func shardAdvice(p *job.Parallel) string {
	switch {
	case p.ZeRO == 0:
		return ", or shard (parallel.zero = 1)"
	case p.ZeRO == 1 && !p.OverlapParamGather:
		return ", or gather the parameters while the forward runs (parallel.overlap_param_gather)"
	}
	return ""
}

// accumulate returns the number of micro-batches at which the exchange falls
// below the limit.
func accumulate(res *step.Result, comm, total float64) int {
	m := res.Job.Config.Schedule.Microbatches
	perMicrobatch := (total - comm) / float64(m)
	need := comm * (1 - exposedDPLimit) / exposedDPLimit / perMicrobatch
	return max(m+1, int(math.Ceil(need)))
}

// adviseBubble names the number of micro-batches, or the interleaving, that
// brings the bubble down.
func adviseBubble(res *step.Result, r *Report) *Advice {
	c := res.Job.Config
	if c.Parallel.PP < 2 || r.Bubble.OverTotal <= bubbleLimit {
		return nil
	}
	m := bubbleMicrobatches(c, r)
	a := &Advice{Code: "bubble", Severity: "warning", Change: map[string]any{"schedule.microbatches": m},
		Text: fmt.Sprintf("the pipeline bubble is %.1f %% of the step; about %d micro-batches bring it to %.0f %%",
			100*r.Bubble.OverTotal, m, 100*bubbleLimit)}
	layers := c.Model.Depth()
	if c.Schedule.Kind == "1f1b" && layers >= 2*c.Parallel.PP && layers%(2*c.Parallel.PP) == 0 &&
		c.Schedule.Microbatches%c.Parallel.PP == 0 {
		a.Text += ", or interleave two virtual stages (schedule.kind = \"interleaved\", virtual_stages = 2), " +
			"which halves it"
	}
	return a
}

// bubbleMicrobatches scales the bubble as fill and drain do: its length stays,
// the work grows with the micro-batches.
func bubbleMicrobatches(c *job.Config, r *Report) int {
	m := c.Schedule.Microbatches
	work := (r.StepTime - r.Bubble.Seconds) / float64(m)
	need := int(math.Ceil(r.Bubble.Seconds * (1 - bubbleLimit) / bubbleLimit / work))
	pp := c.Parallel.PP
	return max(m+1, (need+pp-1)/pp*pp)
}

func adviseHost(res *step.Result, r *Report) *Advice {
	var worst float64
	for _, t := range r.TimePerStage {
		worst = max(worst, t.Host)
	}
	if worst <= hostLimit*r.StepTime {
		return nil
	}
	return &Advice{Code: "host-bound", Severity: "warning",
		Text: fmt.Sprintf("GPUs wait for their CPUs to launch kernels for %.0f %% of the step; use larger "+
			"micro-batches, a compiled model or CUDA graphs", 100*worst/r.StepTime),
		Change: map[string]any{"host.framework": "cuda-graphs"}}
}

// adviseRecompute turns recomputation off where memory is ample: the account
// decides.
func adviseRecompute(ctx context.Context, res *step.Result, r *Report) *Advice {
	c := res.Job.Config
	if r.OOM != nil || c.Training.Recompute == "none" || c.Training.Recompute == "" {
		return nil
	}
	for _, less := range []string{"none", "selective"} {
		if less == c.Training.Recompute {
			break
		}
		v := *c
		v.Training.Recompute = less
		if share, ok := fits(ctx, &v); ok && share <= ampleMemory {
			return &Advice{Code: "recompute-unneeded", Severity: "info",
				Change: map[string]any{"training.recompute": less},
				Text: fmt.Sprintf("memory is ample: with recompute = %q the fullest GPU is %.0f %% full, and "+
					"the recomputation's time is saved", less, 100*share)}
		}
	}
	return nil
}

// largest names the kind that fills most of the peak.
func largest(p AtPeak) string {
	best, name := int64(-1), ""
	for _, k := range p.Kinds() {
		if k.Bytes > best {
			best, name = k.Bytes, k.Name
		}
	}
	return fmt.Sprintf("%s (%s)", name, quantity.GiB(best))
}
