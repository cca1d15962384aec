package nccl

import (
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

	mu    sync.Mutex
	sends map[sendKey]*sendWay
}

// New returns NCCL on a topology, or what is wrong with the settings.
func New(t *interconnect.Topology, s Settings) (*Library, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("nccl.%w", err)
	}
	return &Library{t: t, settings: s, sends: make(map[sendKey]*sendWay)}, nil
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
// which the settings must leave a way to run.
func (l *Library) Communicator(op Op, devices []int) (*Communicator, error) {
	if err := l.checkDevices(devices); err != nil {
		return nil, err
	}
	c := &Communicator{
		lib: l, t: l.t, settings: &l.settings, devices: append([]int(nil), devices...),
		traffic: make(map[trafficKey]*traffic), plans: make(map[planKey]Plan),
	}
	if err := c.init(); err != nil {
		return nil, err
	}
	if _, ok := c.tuner.choose(op, 1); len(devices) > 1 && !ok && op <= Reduce {
		return nil, fmt.Errorf("nccl: no algorithm and protocol is left for %v over %d devices; allow more in algo and proto", op, len(devices))
	}
	return c, nil
}

// checkDevices refuses devices that do not exist or are listed twice.
func (l *Library) checkDevices(devices []int) error {
	if len(devices) == 0 {
		return errors.New("a communicator needs at least one device")
	}
	seen := make(map[int]bool, len(devices))
	for _, d := range devices {
		if d < 0 || d >= l.t.Devices() {
			return fmt.Errorf("device %d does not exist: the cluster has devices 0 to %d", d, l.t.Devices()-1)
		}
		if seen[d] {
			return fmt.Errorf("device %d is in the communicator twice", d)
		}
		seen[d] = true
	}
	return nil
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
