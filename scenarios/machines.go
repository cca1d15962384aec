package scenarios

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"trainsim/interconnect"
	"trainsim/sim"
)

// machineWords is what a table says about the machine of a row.
type machineWords struct {
	gpu   string // its name, or "not stated"
	text  string // words about links, cards and the network
	nodes int
	// perNode is how many GPUs of a node take part.
	perNode int
}

// Words that state something, with their units as people write them: Gb/s are
// bits, GB/s bytes.
var (
	statedCards = regexp.MustCompile(`\b(\d+)\s*x\s*(?:[A-Za-z][\w-]*\s+)?(\d+)\s*(Gb/s|Gbps|Gbit/s|GbE|GB/s)`)
	statedRate  = regexp.MustCompile(`\b(\d+(?:\.\d+)?)\s*(Gb/s|Gbps|Gbit/s|GB/s)\s*(?:a|per|/)\s*node`)
	statedSlot  = regexp.MustCompile(`(?i)\bpcie\s*(?:gen\s*)?([3-6])`)
	statedBonds = regexp.MustCompile(`(?i)\bNV(\d+)\b`)
)

// machine returns the cluster that stands for the machine: the name of a built-in
// one, with the configuration where the words change it; or, for a GPU that is
// not stated or not known here, a configuration made of what the words state.
func (w *machineWords) machine() (name string, cfg *interconnect.Config, err error) {
	found, err := FindCluster(w.gpu, w.text, w.nodes, w.perNode)
	if err != nil {
		if cfg = w.made(); cfg == nil {
			return "", nil, err
		}
		return fmt.Sprintf("%s (%s, %d a node)", w.gpu, w.text, w.perNode), cfg, nil
	}
	base, _, err := LoadCluster(found)
	if err != nil {
		return "", nil, err
	}
	changed := *base
	if !w.state(&changed) {
		return found, nil, nil
	}
	return fmt.Sprintf("%s (%s)", found, w.text), &changed, nil
}

// state puts into a cluster what the words state of slots and cards. It reports
// whether that changed anything.
func (w *machineWords) state(c *interconnect.Config) (changed bool) {
	if g := statedSlot.FindStringSubmatch(w.text); g != nil {
		if gen, _ := strconv.Atoi(g[1]); gen != c.PCIeGen {
			c.PCIeGen, c.PCIeBandwidth, changed = gen, 0, true
		}
	}
	if w.nodes < 2 {
		return changed
	}
	cards, rate := c.NICs, float64(c.NICBandwidth)
	if g := statedCards.FindStringSubmatch(w.text); g != nil {
		cards, _ = strconv.Atoi(g[1])
		rate = bytesPerSecond(g[2], g[3])
	} else if g := statedRate.FindStringSubmatch(w.text); g != nil && rate > 0 {
		total := bytesPerSecond(g[1], g[2])
		cards = max(int(math.Round(total/rate)), 1)
		rate = total / float64(cards)
	}
	if cards < 1 || cards > 64 || math.Abs(rate-float64(c.NICBandwidth)) < 1e-3*rate && cards == c.NICs {
		return changed
	}
	c.NICs, c.NICBandwidth = cards, sim.Bandwidth(rate)
	return true
}

func bytesPerSecond(amount, unit string) float64 {
	x, _ := strconv.ParseFloat(amount, 64)
	if unit != "GB/s" {
		x /= 8
	}
	return 1e9 * x
}

// has reports whether the words contain one of some.
func (w *machineWords) has(some ...string) bool {
	low := strings.ToLower(w.text)
	for _, s := range some {
		if strings.Contains(low, s) {
			return true
		}
	}
	return false
}

// made builds a node from the words alone; nil where they do not say enough.
func (w *machineWords) made() *interconnect.Config {
	if strings.Contains(strings.ToLower(w.gpu), "mi300x") && w.nodes == 1 && w.perNode <= 8 {
		return w.infinityFabric()
	}
	if !strings.Contains(strings.ToLower(w.gpu), "not stated") {
		return nil
	}
	switch bonds := statedBonds.FindStringSubmatch(w.text); {
	case w.nodes > 1:
		return w.madeNodes()
	case bonds != nil:
		return w.bridged(bonds[1])
	case w.has("pcie", "p2p", "numa", "socket"):
		return w.slots()
	}
	return nil
}

// madeNodes are nodes on a network: the maker's reference system of eight GPUs
// on NVSwitches, DGX A100 where a node has up to 200 GB/s of network, as with
// eight HDR cards, DGX H100 otherwise.
func (w *machineWords) madeNodes() *interconnect.Config {
	name := "dgx-h100"
	if g := statedRate.FindStringSubmatch(w.text); g != nil && bytesPerSecond(g[1], g[2]) <= 200e9 {
		name = "dgx-a100"
	}
	if w.perNode != 8 {
		return nil
	}
	base, _, err := LoadCluster(name)
	if err != nil {
		return nil
	}
	c := *base
	w.state(&c)
	return &c
}

// bridged is a node whose cards are joined in pairs. Bridges of four links are
// those of GA102 cards (A40, A6000, RTX 3090), of twelve those of A100 PCIe.
func (w *machineWords) bridged(links string) *interconnect.Config {
	c := w.slots()
	c.Kind = interconnect.NVLinkPairs
	c.NVLinks, _ = strconv.Atoi(links)
	c.NVLinkEfficiency = 0.82 // nccl-tests#212
	c.ComputeCapability, c.NVLinkBandwidth = 80, 25e9
	if c.NVLinks == 4 {
		c.ComputeCapability, c.NVLinkBandwidth = 86, 14.0625e9
	}
	c.GPUsPerNode += c.GPUsPerNode % 2
	return c
}

// slots is a node of PCIe cards on root ports of their own, on one socket or,
// where the words speak of several, on two.
func (w *machineWords) slots() *interconnect.Config {
	c := &interconnect.Config{GPUsPerNode: w.perNode, ComputeCapability: 80, PCIeGen: 4, CPU: "amd", Sockets: 1}
	if w.has("sockets") {
		c.Sockets = 2
	}
	w.state(c)
	return c
}

// infinityFabric is a node of MI300X: seven links of 64 GB/s a direction to the
// seven others (AMD CDNA 3 white paper), of which copies reach three quarters.
// What runs on it is not NCCL: such rows are rings at the links' own rate.
func (w *machineWords) infinityFabric() *interconnect.Config {
	return &interconnect.Config{
		GPUsPerNode: 8, Kind: interconnect.NVLinkMesh, NVLinks: 7, NVLinkBandwidth: 64e9, NVLinkEfficiency: 0.75,
		NVLinkLatency: 2 * sim.Microsecond, PCIeGen: 5, CPU: "amd",
	}
}
