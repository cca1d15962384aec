package machines

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"trainsim/interconnect"
	"trainsim/sim"
	"trainsim/sim/gpu/generation"
)

// Words that state something, with their units as people write them: Gb/s are
// bits, GB/s bytes.
var (
	statedCards = regexp.MustCompile(`\b(\d+)\s*x\s*(?:[A-Za-z][\w-]*\s+)?(\d+)\s*(Gb/s|Gbps|Gbit/s|GbE|GB/s)`)
	statedRate  = regexp.MustCompile(`\b(\d+(?:\.\d+)?)\s*(Gb/s|Gbps|Gbit/s|GB/s)\s*(?:a|per|/)\s*node`)
	statedSlot  = regexp.MustCompile(`(?i)\bpcie\s*(?:gen\s*)?([3-6])`)
	statedBonds = regexp.MustCompile(`(?i)\bNV(\d+)\b`)
	// Cards of InfiniBand by generation, as in "4x HDR" or "8 x NDR400".
	statedInfiniBand = regexp.MustCompile(`(?i)\b(\d+)\s*x\s*(EDR|HDR|NDR|XDR)`)
	// A domain of NVSwitches that is a part of a rack, as in "NVL8".
	statedDomain = regexp.MustCompile(`(?i)\bNVL(\d+)\b`)
	statedLinks  = regexp.MustCompile(`(?i)\bNVLink\s?([2-5])\b`)
)

// infiniBand gives the rate of a card's generation in bits a second.
var infiniBand = map[string]string{"edr": "100", "hdr": "200", "ndr": "400", "xdr": "800"}

// state puts into a cluster what the words state of slots and cards. It reports
// whether that changed anything.
func (w *Words) state(c *interconnect.Config) (changed bool) {
	if g := statedSlot.FindStringSubmatch(w.Text); g != nil {
		if gen, _ := strconv.Atoi(g[1]); gen != c.PCIeGen {
			c.PCIeGen, c.PCIeBandwidth, changed = gen, 0, true
		}
	}
	if g := statedBonds.FindStringSubmatch(w.Text); g != nil && c.NVLinks == 0 && w.Has("bridge", "pair") {
		w.bridge(c, g[1])
		changed = true
	}
	if g := statedDomain.FindStringSubmatch(w.Text); g != nil && c.NVLinkDomain > 0 {
		if size, _ := strconv.Atoi(g[1]); size != c.NVLinkDomain && size%c.GPUsPerNode == 0 {
			c.NVLinkDomain, changed = size, true
		}
	}
	return w.stateCards(c) || changed
}

// stateCards puts the cards of several nodes into a cluster.
func (w *Words) stateCards(c *interconnect.Config) bool {
	cards, rate := c.NICs, float64(c.NICBandwidth)
	if w.Nodes < 2 {
		return false
	}
	if g := statedCards.FindStringSubmatch(w.Text); g != nil {
		cards, _ = strconv.Atoi(g[1])
		rate = bytesPerSecond(g[2], g[3])
	} else if g := statedInfiniBand.FindStringSubmatch(w.Text); g != nil {
		cards, _ = strconv.Atoi(g[1])
		rate = bytesPerSecond(infiniBand[strings.ToLower(g[2])], "Gb/s")
	} else if g := statedRate.FindStringSubmatch(w.Text); g != nil && rate > 0 {
		total := bytesPerSecond(g[1], g[2])
		cards = max(int(math.Round(total/rate)), 1)
		rate = total / float64(cards)
	}
	if cards < 1 || cards > 64 || math.Abs(rate-float64(c.NICBandwidth)) < 1e-3*rate && cards == c.NICs {
		return false
	}
	c.NICs, c.NICBandwidth = cards, sim.Bandwidth(rate)
	if c.NICEfficiency == 0 {
		c.NICEfficiency = 0.95 // nccl-tests#119 and #290: 0.92 to 0.96
	}
	return true
}

func bytesPerSecond(amount, unit string) float64 {
	x, _ := strconv.ParseFloat(amount, 64)
	if unit != "GB/s" {
		x /= 8
	}
	return 1e9 * x
}

// Has reports whether the words contain one of some.
func (w *Words) Has(some ...string) bool {
	low := strings.ToLower(w.Text)
	for _, s := range some {
		if strings.Contains(low, s) {
			return true
		}
	}
	return false
}

// bridge joins the cards of a node in pairs. Bridges of four links are those of
// GA102 cards (A40, A6000, RTX 3090); others have the links of their generation.
func (w *Words) bridge(c *interconnect.Config, links string) {
	c.Kind = interconnect.NVLinkPairs
	c.NVLinks, _ = strconv.Atoi(links)
	c.NVLinkEfficiency = 0.82 // nccl-tests#212
	c.NVLinkBandwidth = 25e9
	if c.NVLinks == 4 {
		c.ComputeCapability = 86
		c.NVLinkBandwidth = generation.Of(c.ComputeCapability).NVLink.LineRate
	}
	c.GPUsPerNode += c.GPUsPerNode % 2
}
