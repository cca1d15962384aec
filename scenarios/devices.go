package scenarios

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"trainsim/interconnect"
	"trainsim/sim/gpu"
	"trainsim/sim/input"
)

// LoadGPU reads a device preset: a built-in one by name, or a file.
func LoadGPU(name string) (*gpu.Device, error) {
	l := newLoader(&input.Source{Name: "gpu", Dir: "."})
	l.root = newTable(input.Span{}, input.Span{})
	t := newTable(input.Span{}, input.Span{})
	t.put("preset", &node{kind: stringNode, text: name})
	l.root.put("gpu", t)
	cfg := l.decode()
	if l.out.Len() == 1 && l.out.All()[0].File == "" {
		return nil, problemError(l.out.All()[0])
	}
	if err := l.out.Err(); err != nil {
		return nil, err
	}
	if err := cfg.GPU.Validate(); err != nil {
		return nil, fmt.Errorf("gpu preset %q: %w", name, err)
	}
	return &cfg.GPU, nil
}

// LoadCluster reads a cluster preset, a built-in one by name or a file, with
// the device of its nodes.
func LoadCluster(name string) (*interconnect.Config, *gpu.Device, error) {
	cfg, err := LoadMachine(name, ".")
	if err != nil {
		return nil, nil, err
	}
	c := cfg.Cluster
	c.ComputeCapability = cmp.Or(c.ComputeCapability, cfg.GPU.ComputeCapability)
	return &c, &cfg.GPU, nil
}

// builtinGPUs are the built-in devices, in the order of their names.
var builtinGPUs = sync.OnceValue(func() []*gpu.Device {
	var out []*gpu.Device
	for _, name := range builtinNames("gpus") {
		if d, err := LoadGPU(name); err == nil {
			out = append(out, d)
		}
	}
	return out
})

// FindGPU returns the built-in device that a table of measurements means by a
// name: a preset's name or one of its aliases, or the beginning of one where
// that, or a remark in parentheses, tells it from the others.
func FindGPU(name string) (*gpu.Device, error) {
	for _, d := range builtinGPUs() {
		if d.Is(name) {
			return d, nil
		}
	}
	var short []*gpu.Device
	for _, d := range builtinGPUs() {
		if Means(d, name) {
			short = append(short, d)
		}
	}
	if len(short) > 1 {
		short = remarked(short, name)
	}
	switch n := len(short); n {
	case 0:
		return nil, fmt.Errorf("there is no gpu preset for %q; name one (trainsim list gpus)", name)
	case 1:
		return short[0], nil
	default:
		names := make([]string, n)
		for i, d := range short {
			names[i] = d.Name
		}
		return nil, fmt.Errorf("%q may be %s or %s; name a gpu preset", name, strings.Join(names[:n-1], ", "), names[n-1])
	}
}

// remarked returns the devices that most words of a name's remark in
// parentheses fit, as in "A100 (SXM4-80GB)": all of them where none fits.
func remarked(all []*gpu.Device, name string) []*gpu.Device {
	_, remark, _ := strings.Cut(name, "(")
	words := wordsOf(socket.ReplaceAllString(strings.ToLower(remark), "sxm"))
	var best []*gpu.Device
	most := 0
	for _, d := range all {
		n := 0
		for _, full := range append([]string{d.Name}, d.Aliases...) {
			n = max(n, fitting(words, strings.TrimPrefix(shortName(full), shortName(name))))
		}
		if n > most {
			best, most = nil, n
		}
		if n == most {
			best = append(best, d)
		}
	}
	return best
}

// fitting counts the words, of three letters and more, that a name holds.
func fitting(words []string, name string) int {
	n := 0
	for _, w := range words {
		if len(w) >= 3 && strings.Contains(name, w) {
			n++
		}
	}
	return n
}

// builtinCluster is a cluster preset with its device.
type builtinCluster struct {
	name   string
	about  string // its description
	config *interconnect.Config
	gpu    *gpu.Device
}

// builtinClusters are the built-in clusters, in the order of their names.
var builtinClusters = sync.OnceValue(func() []builtinCluster {
	var out []builtinCluster
	entries, err := List("clusters")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if c, d, err := LoadCluster(e.Name); err == nil {
			out = append(out, builtinCluster{e.Name, e.Description, c, d})
		}
	}
	return out
})

// Clusters named after what they are: a GPU and how many of it, or a maker's
// reference system.
var (
	oneNode   = regexp.MustCompile(`-\d+x$`)
	reference = regexp.MustCompile(`^(dgx|hgx)\d?-[a-z]+\d+(-nvl\d+)?$`)
)

// ownWays are networks on which NCCL runs by a plugin or driver of their own and
// does otherwise than on InfiniBand and RoCE; a cluster's description names its.
var ownWays = []string{"tcpxo", "tcpx", "omni-path", "efa"}

// network returns which of them the words name, empty for none.
func network(words string) string {
	low := strings.ToLower(words)
	for _, n := range ownWays {
		if strings.Contains(low, n) {
			return n
		}
	}
	return ""
}

// FindCluster returns the built-in cluster that stands for nodes of a GPU, of
// which perNode take part (0: any). The words about the machine decide if every
// part of a cluster's name is among them, as in "AWS p5en". If they say no more
// than the GPU, it is the machine named after the GPU for one node, and for
// several the one with the network that the words name, or else the maker's
// reference system (DGX or HGX). The GPU's name may leave the memory's size out,
// which no link depends on; where it leaves out whether it is a card in a slot,
// what the words say of NVLink and NVSwitches decides, and a machine that is all
// NVLink is taken where they say nothing.
func FindCluster(gpuType, machine string, nodes, perNode int) (string, error) {
	words := wordsOf(gpuType + " " + machine)
	usual, rank := "", 0
	device, _ := FindGPU(gpuType)
	for _, c := range builtinClusters() {
		links, possible := c.joinedAs(machine)
		if !possible || !Means(c.gpu, gpuType) || device != nil && device.Name != c.gpu.Name || nodes > 1 && c.config.NICs == 0 || perNode > c.config.DomainSize() {
			continue
		}
		if named(c.name, words) {
			return c.name, nil
		}
		if r := 2*c.suits(machine, nodes) + links; r > max(rank, 1) {
			usual, rank = c.name, r
		}
	}
	if usual == "" {
		what := fmt.Sprintf("%d nodes of %q", nodes, gpuType)
		if perNode > 0 {
			what = fmt.Sprintf("%d nodes of %d %q", nodes, perNode, gpuType)
		}
		return "", fmt.Errorf("there is no cluster preset for %s; name one (trainsim list clusters)", what)
	}
	return usual, nil
}

// suits ranks a cluster for words that do not name it; 0 is not at all.
func (c *builtinCluster) suits(machine string, nodes int) int {
	way := network(machine)
	switch {
	case nodes > 1 && way != "" && network(c.about) == way:
		return 3
	case nodes == 1 && oneNode.MatchString(c.name):
		return 2
	case reference.MatchString(c.name):
		return 1
	}
	return 0
}

// joinedAs says whether a cluster's GPUs are joined as the words state, and
// prefers (1) the usual of what they leave open.
func (c *builtinCluster) joinedAs(machine string) (preferred int, possible bool) {
	low := strings.ToLower(machine)
	has := func(s string) bool { return strings.Contains(low, s) }
	kind := c.config.Kind
	slots, pairs := kind == interconnect.PCIe, kind == interconnect.NVLinkPairs
	whole := !slots && !pairs
	switch {
	case has("no nvlink") || has("without nvlink"):
		return 0, slots
	case has("bridge") || has("pair"):
		return one(pairs), !whole
	case has("nvswitch") && !has("no nvswitch"):
		return 0, kind == interconnect.NVSwitch
	case has("nvlink"):
		return one(whole), !slots
	case has("pcie"):
		return one(slots), true
	}
	return one(whole), true
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// wordsOf splits a description into lower-case words and numbers.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// named reports whether every part of a cluster's name is among the words.
func named(name string, words []string) bool {
	for _, part := range strings.Split(name, "-") {
		if !contains(words, part) {
			return false
		}
	}
	return true
}

// Means reports whether a name that may be shortened stands for a device.
func Means(d *gpu.Device, name string) bool {
	short := shortName(name)
	if len(short) < 2 {
		return false
	}
	for _, full := range append([]string{d.Name}, d.Aliases...) {
		if strings.HasPrefix(shortName(full), short) {
			return true
		}
	}
	return false
}

var socket = regexp.MustCompile(`sxm\d\b`)

// shortName is a GPU's name without case, separators, the maker, remarks in
// parentheses and the generation of its socket.
func shortName(name string) string {
	name, _, _ = strings.Cut(strings.ToLower(name), "(")
	name = socket.ReplaceAllString(name, "sxm")
	return strings.NewReplacer(" ", "", "-", "", "_", "", "nvidia", "").Replace(name)
}
