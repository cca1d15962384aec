package schedule

// summarise derives makespan, work, idle times and spans from the times.
func (p *Program) summarise(r *Result) {
	busy := make([]float64, p.Ranks)
	r.Idle, r.Span = make([]float64, p.Ranks), make([]float64, p.Ranks)
	for rank, list := range p.Lists {
		for i := 0; i < len(list); i += unit(list, i) {
			busy[rank] += r.End[rank][i] - r.Start[rank][i]
		}
		last := r.End[rank][len(list)-1]
		r.Makespan = max(r.Makespan, last)
		r.Span[rank] = last - r.Start[rank][0]
		r.Work = max(r.Work, busy[rank])
	}
	for rank := range busy {
		r.Idle[rank] = r.Makespan - busy[rank]
	}
}

// countPeaks counts live activations. In a pair the forward is counted before
// the backward half lets go.
func (p *Program) countPeaks(r *Result) {
	r.Peak, r.PeakInput = make([]int, p.Ranks), make([]int, p.Ranks)
	for rank, list := range p.Lists {
		live, liveInput := 0, 0
		for i := 0; i < len(list); {
			n := unit(list, i)
			for _, a := range list[i : i+n] {
				if a.Op == Forward {
					live++
					liveInput++
				}
			}
			r.Peak[rank] = max(r.Peak[rank], live)
			r.PeakInput[rank] = max(r.PeakInput[rank], liveInput)
			for _, a := range list[i : i+n] {
				if a.Op.releasesWeight() {
					live--
				}
				if a.Op.releasesInput() {
					liveInput--
				}
			}
			i += n
		}
	}
}

// countMessages counts the sends that cross ranks.
func (p *Program) countMessages(r *Result) {
	w := newWiring(p)
	r.Messages = make([][2]int, p.Ranks)
	for rank, list := range p.Lists {
		for _, a := range list {
			if to := w.output(w.slot(rank, a), a); to >= 0 && int(to) != rank {
				r.Messages[rank][direction(a.Op)]++
			}
		}
	}
}

// liveVersions returns the weight versions that each rank holds at once.
func (p *Program) liveVersions() []int {
	out := make([]int, p.Ranks)
	for rank := range out {
		out[rank] = 1
		if p.WeightVersions != nil {
			out[rank] = p.WeightVersions[rank]
		}
	}
	return out
}
