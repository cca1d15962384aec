package draw

import "trainsim/schedule"

// Summary is a program and its times in the form in which they are written as
// JSON. Times are in the unit of the costs.
type Summary struct {
	Schedule     string     `json:"schedule"`
	Ranks        int        `json:"p"`
	Microbatches int        `json:"m"`
	Chunks       int        `json:"v"`
	Ops          [][]string `json:"ops"` // each rank's list as tokens, as Program.Tokens writes them

	Makespan        float64 `json:"makespan"`
	Work            float64 `json:"work"`
	Bubble          float64 `json:"bubble"`            // makespan less work
	BubbleOverIdeal float64 `json:"bubble_over_ideal"` // bubble over work
	BubbleOverTotal float64 `json:"bubble_over_total"` // bubble over makespan
	SpanBubble      float64 `json:"span_bubble"`       // longest span less work

	Idle           []float64 `json:"idle"`
	Span           []float64 `json:"span"`
	Peak           []int     `json:"peak"`
	PeakInput      []int     `json:"peak_input"`
	Messages       [][2]int  `json:"messages"` // [forward, backward] sends of each rank
	WeightVersions []int     `json:"weight_versions"`
}

// Summarise returns a program with the times that Execute gave for it.
func Summarise(p *schedule.Program, r *schedule.Result) Summary {
	s := Summary{
		Schedule: p.Kind, Ranks: p.Ranks, Microbatches: p.Microbatches, Chunks: p.Chunks,
		Ops:      make([][]string, p.Ranks),
		Makespan: r.Makespan, Work: r.Work, Bubble: r.Bubble(), BubbleOverIdeal: r.BubbleOverIdeal(),
		BubbleOverTotal: r.BubbleOverTotal(), SpanBubble: r.SpanBubble(),
		Idle: r.Idle, Span: r.Span, Peak: r.Peak, PeakInput: r.PeakInput,
		Messages: r.Messages, WeightVersions: r.WeightVersions,
	}
	for rank := range p.Lists {
		s.Ops[rank] = p.Tokens(rank)
	}
	return s
}
