package machines

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"trainsim/interconnect"
	"trainsim/scenarios"
	"trainsim/sim"
)

// Words are what people say about a machine.
type Words struct {
	GPU   string // its name, or "not stated"
	Text  string // words about links, cards and the network
	Nodes int
	// PerNode is how many GPUs of a node take part.
	PerNode int
}

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

// Machine returns the cluster that stands for the machine: the name of a built-in
// one, with the configuration where the words change it; or, for a GPU that is
// not stated or not known here, a configuration made of what the words state.
func (w *Words) Machine() (name string, cfg *interconnect.Config, err error) {
	found, err := FindCluster(w.GPU, w.Text, w.Nodes, w.PerNode)
	if err != nil {
		if cfg = w.withCards(); cfg == nil {
			cfg = w.made()
		}
		if cfg == nil {
			return "", nil, err
		}
		return fmt.Sprintf("%s (%s, %d a node)", w.GPU, w.Text, w.PerNode), cfg, nil
	}
	base, _, err := scenarios.LoadCluster(found)
	if err != nil {
		return "", nil, err
	}
	changed := *base
	if !w.state(&changed) {
		return found, nil, nil
	}
	return fmt.Sprintf("%s (%s)", found, w.Text), &changed, nil
}

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

// withCards is the one-node cluster of a GPU with the cards that the words state,
// for GPUs of which no cluster with a network is built in; nil where they state
// none.
func (w *Words) withCards() *interconnect.Config {
	if w.Nodes < 2 {
		return nil
	}
	found, err := FindCluster(w.GPU, w.Text, 1, w.PerNode)
	if err != nil {
		return nil
	}
	base, _, err := scenarios.LoadCluster(found)
	if err != nil {
		return nil
	}
	c := *base
	if !w.state(&c) || c.NICs == 0 {
		return nil
	}
	return &c
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
