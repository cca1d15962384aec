package job

import (
	"context"
	"trainsim/sim/model"
)

// balanceMemory moves layers from the pipeline rank whose peak is the highest
// to the one whose peak is the lowest as long as the highest peak falls; the
// account of every split decides.
func (j *Job) balanceMemory(ctx context.Context, layers []int) ([]int, error) {
	best, err := j.peaksOf(ctx, layers)
	if err != nil {
		return nil, err
	}
	for range j.Config.Model.Depth() {
		next, ok := best.moveLayer(layers)
		if !ok {
			return layers, nil
		}
		after, err := j.peaksOf(ctx, next)
		if err != nil {
			return nil, err
		}
		if after.highest() >= best.highest() {
			return layers, nil
		}
		layers, best = next, after
	}
	return layers, nil
}

// Peaks returns the most that the memory account of a job has allocated on each
// pipeline rank, in bytes.
type Peaks func(context.Context, *Job) ([]int64, error)

// stagePeaks is the peak of each pipeline rank under a split, in bytes, and the
// pipeline rank that holds each stage.
type stagePeaks struct {
	bytes []int64
	owner []int
}

// peaks returns the peaks of the job under a split.
func (j *Job) peaksOf(ctx context.Context, layers []int) (*stagePeaks, error) {
	v := *j.Config
	v.Schedule.LayersPerStage = layers
	of, err := Build(ctx, &v, j.peaks)
	if err != nil {
		return nil, err
	}
	p := &stagePeaks{owner: make([]int, len(layers))}
	if p.bytes, err = j.peaks(ctx, of); err != nil {
		return nil, err
	}
	for s := range layers {
		p.owner[s], _ = of.Program.Owner(0, s)
	}
	return p, nil
}

func (p *stagePeaks) highest() int64 {
	var most int64
	for _, n := range p.bytes {
		most = max(most, n)
	}
	return most
}

// moveLayer returns the split with one layer less on the fullest pipeline rank
// and one more on the emptiest; false when the fullest has none to give.
func (p *stagePeaks) moveLayer(layers []int) ([]int, bool) {
	from, to := -1, -1
	for s := range layers {
		if layers[s] > 0 && (from < 0 || p.bytes[p.owner[s]] > p.bytes[p.owner[from]]) {
			from = s
		}
		if to < 0 || p.bytes[p.owner[s]] < p.bytes[p.owner[to]] {
			to = s
		}
	}
	if from < 0 || p.owner[from] == p.owner[to] || p.bytes[p.owner[from]] < p.highest() {
		return nil, false
	}
	out := append([]int(nil), layers...)
	out[from]--
	out[to]++
	return out, true
}

// balanceTime spreads the layers so that the slowest stage is as fast as it
// can be: each layer goes to the stage that is then the fastest. Every stage
// costs the same a layer, so that this is optimal; layers of other kinds than the
// last one's are taken for the first stage's.
func (j *Job) balanceTime(stages int) []int {
	cost := func(r model.Run) float64 {
		c := j.stageCost(r)
		return c.Forward + c.BackwardInput + c.BackwardWeight
	}
	m := &j.Config.Model
	others, base := m.Kinds()
	perLayer := cost(base)
	load := make([]float64, stages)
	all := m.Whole()
	if r := base; all.Embeds {
		r.Embeds = true
		load[0] += max(0, cost(r)-perLayer)
	}
	if r := base; all.Ends {
		r.Ends = true
		load[stages-1] += max(0, cost(r)-perLayer)
	}
	for _, kind := range others {
		load[0] += float64(float64(m.Count(all, kind)) * (cost(kind) - perLayer))
	}
	out := make([]int, stages)
	for range all.Layers {
		best := 0
		for s := range load {
			if load[s] < load[best] {
				best = s
			}
		}
		out[best]++
		load[best] += perLayer
	}
	return out
}
