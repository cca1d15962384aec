package nccl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"

	"trainsim/interconnect"
)

// Library is NCCL on one topology under one job's settings. It is safe for
// concurrent use.
type Library struct {
	t        *interconnect.Topology
	settings Settings

	mu     sync.Mutex
	shapes map[string]*shape
	sends  map[sendKey]*sendWay
	idle   []*interconnect.Loads // scratch space
}

// New returns NCCL on a topology, or what is wrong with the settings.
func New(t *interconnect.Topology, s Settings) (*Library, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("nccl.%w", err)
	}
	return newLibrary(t, s), nil
}

func newLibrary(t *interconnect.Topology, s Settings) *Library {
	return &Library{t: t, settings: s, shapes: make(map[string]*shape), sends: make(map[sendKey]*sendWay)}
}

// First returns the first n devices of a cluster.
func First(n int) []int {
	devices := make([]int, n)
	for i := range devices {
		devices[i] = i
	}
	return devices
}

// Communicator makes the group of devices, in rank order, for one operation,
// which the settings must leave a way to run. Groups on the same places of other
// domains share all but the place.
func (l *Library) Communicator(op Op, devices []int) (*Communicator, error) {
	if err := l.checkDevices(devices); err != nil {
		return nil, err
	}
	shift := l.shift(devices)
	s, err := l.shape(devices, shift)
	if err != nil {
		return nil, err
	}
	if _, ok := s.tuner.choose(op, 1); len(devices) > 1 && !ok && op <= Reduce {
		return nil, fmt.Errorf(
			"nccl: no algorithm and protocol is left for %v over %d devices; allow more in algo and proto",
			op, len(devices))
	}
	return &Communicator{shape: s, base: l.t.Base(shift)}, nil
}

// checkDevices refuses devices that do not exist.
func (l *Library) checkDevices(devices []int) error {
	if len(devices) == 0 {
		return errors.New("a communicator needs at least one device")
	}
	for _, d := range devices {
		if d < 0 || d >= l.t.Devices() {
			return fmt.Errorf("device %d does not exist: the cluster has devices 0 to %d", d, l.t.Devices()-1)
		}
	}
	return nil
}

// shift returns by how many domains devices can be moved down without a change of
// anything but the numbers of their links: to the first domain unless the uplinks
// of leaf switches, which differ, lie between them.
func (l *Library) shift(devices []int) int {
	first := l.t.DomainOf(devices[0])
	several := false
	for _, d := range devices {
		domain := l.t.DomainOf(d)
		several = several || domain != first
		first = min(first, domain)
	}
	if several && l.t.Leaves() > 0 {
		return 0
	}
	return first
}

// shape returns what is common to the groups that are such devices, moved by whole
// domains.
func (l *Library) shape(devices []int, shift int) (*shape, error) {
	key := make([]byte, 0, 2*len(devices))
	last := shift * l.t.PerDomain()
	for _, d := range devices {
		key = binary.AppendVarint(key, int64(d-last))
		last = d
	}
	l.mu.Lock()
	s := l.shapes[string(key)]
	l.mu.Unlock()
	if s != nil {
		return s, nil
	}
	moved := make([]int, len(devices))
	for i, d := range devices {
		moved[i] = d - shift*l.t.PerDomain()
	}
	s, err := newShape(l, moved)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.shapes[string(key)]; known != nil {
		return known, nil
	}
	l.shapes[string(key)] = s
	return s, nil
}

// loads returns empty sums, which giveBack takes back.
func (l *Library) loads() *interconnect.Loads {
	l.mu.Lock()
	defer l.mu.Unlock()
	if last := len(l.idle) - 1; last >= 0 {
		acc := l.idle[last]
		l.idle = l.idle[:last]
		return acc
	}
	return l.t.NewLoads()
}

func (l *Library) giveBack(acc *interconnect.Loads) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle = append(l.idle, acc)
}

// p2pLevel returns the farthest path type on which GPUs copy directly. NCCL's
// default is PXB, and SYS on AMD processors for a communicator with at most two
// GPUs of a node (it sees no others). Bridged NVLink works on cards whose driver
// offers no PCIe peer-to-peer.
func (l *Library) p2pLevel(gpus int) interconnect.PathType {
	cfg, level := l.t.Config(), interconnect.PathPXB
	if isAMD(cfg) && gpus <= 2 {
		level = interconnect.PathSYS
	}
	if l.settings.P2PLevel != "" {
		level = p2pLevels[strings.ToUpper(l.settings.P2PLevel)]
	}
	if cfg.NoP2P {
		level = min(level, interconnect.PathNVB)
	}
	if l.settings.P2PDisable {
		level = interconnect.PathSelf
	}
	return level
}

func isAMD(cfg *interconnect.Config) bool { return strings.HasPrefix(cfg.CPU, "amd") }

func isIntel(cfg *interconnect.Config) bool { return strings.HasPrefix(cfg.CPU, "intel") }
