package interconnect

import (
	"math"

	"trainsim/sim"
)

// Transfer is one movement of data, ready to start as often as needed. It must
// not change once started; Links may be shared between transfers.
type Transfer struct {
	// Latency is paid before the bytes.
	Latency sim.Time
	// Bytes is what crosses the bottleneck link, the measure of progress.
	Bytes int64
	// Cap is the transfer's own limit of progress in bytes a second (channels,
	// protocol); 0 for none.
	Cap float64
	// Links are the links that it crosses, with the bytes of each for one byte
	// of progress. They are numbered from the base with which it is started: 0, or
	// the first link of the domain from which on a transfer for any domain runs.
	Links []LinkUse
	// Bottleneck is the link that limits it when it is alone, numbered as Links
	// are; -1 without links.
	Bottleneck LinkID

	rate float64 // progress in bytes a second when alone
	own  []ownUse
}

// ownUse is what one of several equal transfers that a transfer stands for puts
// on a link; several says that others of them cross it too. It is what the
// transfer's share of a link is measured by.
type ownUse struct {
	LinkUse
	several bool
}

// Transfer returns the transfer of an operation of some bytes; limit is its own
// limit in bytes of the operation a second, 0 for none.
func (t *Topology) Transfer(tr *Traffic, bytes int64, latency sim.Time, limit float64) Transfer {
	x := Transfer{
		Latency: latency, Bytes: wholeBytes(float64(bytes) * tr.Unit), Cap: limit * tr.Unit,
		Links: tr.Uses, Bottleneck: tr.Bottleneck, rate: math.Inf(1),
	}
	if tr.Bottleneck != none {
		x.rate = t.Capacity(tr.Bottleneck)
	}
	if x.Cap > 0 && x.Cap < x.rate {
		x.rate = x.Cap
	}
	return x
}

// wholeBytes rounds a size up, but not for an error of arithmetic.
func wholeBytes(x float64) int64 {
	if r := math.Round(x); math.Abs(x-r) <= 1e-6+float64(2e-15*x) {
		return int64(r)
	}
	return int64(math.Ceil(x))
}

// Uncontended returns how long the transfer takes alone on its links.
func (x *Transfer) Uncontended() sim.Time {
	return x.Latency.Plus(transferTime(x.Bytes, x.rate))
}

// Rate returns the progress in bytes a second when alone.
func (x *Transfer) Rate() float64 { return x.rate }

func transferTime(bytes int64, rate float64) sim.Time {
	if bytes == 0 {
		return 0
	}
	return sim.TransferTime(bytes, max(rate, 1))
}

// Over returns the transfer, whose links are numbered from base, with other links
// numbered from 0: those given, with the bytes of each for one byte of progress. It
// is how one transfer stands for equal ones that cross some of its links.
func (x Transfer) Over(t *Topology, base LinkID, links []LinkUse) Transfer {
	total := make(map[LinkID]float64, len(links))
	for _, u := range links {
		total[u.Link] = u.Weight
		x.rate = min(x.rate, t.Capacity(u.Link)/u.Weight)
	}
	x.own = make([]ownUse, len(x.Links))
	for i, u := range x.Links {
		u.Link += base
		x.own[i] = ownUse{u, total[u.Link] > u.Weight*(1+1e-9)}
	}
	x.Links = links
	if x.Bottleneck != none {
		x.Bottleneck += base
	}
	return x
}
