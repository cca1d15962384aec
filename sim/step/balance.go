package step

// balanceMemory moves layers from the pipeline rank whose peak is the highest
// to the one whose peak is the lowest as long as the highest peak falls; the
// account of every split decides.
func (c *Config) balanceMemory(layers []int) ([]int, error) {
	best, err := c.peaks(layers)
	if err != nil {
		return nil, err
	}
	for range c.Model.Layers {
		next, ok := best.moveLayer(layers)
		if !ok {
			return layers, nil
		}
		after, err := c.peaks(next)
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

// stagePeaks is the peak of each pipeline rank under a split, in bytes, and the
// pipeline rank that holds each stage.
type stagePeaks struct {
	bytes []int64
	owner []int
}

// peaks returns the peaks of the job under a split.
func (c *Config) peaks(layers []int) (*stagePeaks, error) {
	v := *c
	v.Schedule.LayersPerStage = layers
	j, err := Build(&v)
	if err != nil {
		return nil, err
	}
	accounts, err := j.Account()
	if err != nil {
		return nil, err
	}
	p := &stagePeaks{owner: make([]int, len(layers))}
	for i := range accounts {
		p.bytes = append(p.bytes, accounts[i].PeakAllocated)
	}
	for s := range layers {
		p.owner[s], _ = j.Program.Owner(0, s)
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
