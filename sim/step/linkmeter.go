package step

import (
	"math"
	"sort"
	"strings"

	"trainsim/interconnect"
	"trainsim/sim"
	"trainsim/sim/trace"
)

const (
	meterBins  = 512
	meterStart = sim.Microsecond // first width of a bin
	meterLinks = 4096            // links metered at most
	shownEach  = 4               // links of one sort that become counters
)

// linkMeter averages the load of links over bins of time. The run's length is
// not known before its end, so that the bins double in width when it outgrows
// them.
type linkMeter struct {
	width sim.Time
	meter []int32 // by link: index into bins, -1: not metered
	links []interconnect.LinkID
	rate  []float64
	since []sim.Time
	bins  [][]float64 // bytes
}

func newLinkMeter(links int) *linkMeter {
	lm := &linkMeter{width: meterStart, meter: make([]int32, links)}
	for i := range lm.meter {
		lm.meter[i] = -1
	}
	return lm
}

// change is the network's record hook.
func (lm *linkMeter) change(at sim.Time, link interconnect.LinkID, rate float64) {
	i := lm.meter[link]
	if i < 0 {
		if len(lm.links) == meterLinks {
			return
		}
		i = int32(len(lm.links))
		lm.meter[link] = i
		lm.links = append(lm.links, link)
		lm.rate = append(lm.rate, 0)
		lm.since = append(lm.since, at)
		lm.bins = append(lm.bins, make([]float64, meterBins))
	}
	lm.advance(i, at)
	lm.rate[i] = rate
}

// advance books what a link carried since its last change.
func (lm *linkMeter) advance(i int32, to sim.Time) {
	for to/meterBins >= lm.width {
		lm.double()
	}
	from := lm.since[i]
	lm.since[i] = to
	for lm.rate[i] > 0 && from < to {
		bin := from / lm.width
		end := from + min(to-from, lm.width-from%lm.width)
		lm.bins[i][bin] += float64(lm.rate[i] * (end - from).Seconds())
		from = end
	}
}

func (lm *linkMeter) double() {
	lm.width *= 2
	for _, b := range lm.bins {
		for k := range meterBins / 2 {
			b[k] = b[2*k] + b[2*k+1]
		}
		clear(b[meterBins/2:])
	}
}

// write turns the busiest links of every sort into counters.
func (lm *linkMeter) write(rec *trace.Recording, t *interconnect.Topology, end sim.Time) {
	for _, i := range lm.chosen(t, end) {
		l := t.Link(lm.links[i])
		id := rec.AddCounter(trace.Counter{Kind: trace.LinkRate, Name: l.Name, Rank: -1, Stage: -1, Limit: l.Capacity})
		last := int64(-1)
		for k, bytes := range lm.bins[i] {
			at := sim.Time(k) * lm.width
			if at >= end {
				break
			}
			rate := int64(math.Round(bytes / min(lm.width, end-at).Seconds()))
			if rate != last {
				rec.Set(at, id, rate)
				last = rate
			}
		}
		if last != 0 {
			rec.Set(end, id, 0)
		}
	}
}

// chosen returns the meters to show: the busiest of each sort of link (links
// whose names differ in numbers only), in the order of the links.
func (lm *linkMeter) chosen(t *interconnect.Topology, end sim.Time) []int32 {
	total := make([]float64, len(lm.links))
	order := make([]int32, len(lm.links))
	for i := range order {
		order[i] = int32(i)
		lm.advance(int32(i), end)
		for _, b := range lm.bins[i] {
			total[i] += b
		}
	}
	sort.SliceStable(order, func(a, b int) bool { return total[order[a]] > total[order[b]] })
	perSort := make(map[string]int)
	var out []int32
	for _, i := range order {
		name := strings.Map(dropDigits, t.Link(lm.links[i]).Name)
		if perSort[name]++; perSort[name] <= shownEach && total[i] > 0 {
			out = append(out, i)
		}
	}
	sort.Slice(out, func(a, b int) bool { return lm.links[out[a]] < lm.links[out[b]] })
	return out
}

func dropDigits(r rune) rune {
	if r >= '0' && r <= '9' {
		return -1
	}
	return r
}
