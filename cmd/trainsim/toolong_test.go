package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// What takes longer than the clock reaches ends with exit code 4 and the key to
// change, and does not go on for ever.
func TestTooLongForTheClock(t *testing.T) {
	for set, want := range map[string]string{
		`cluster.nic_bandwidth="1kB/s"`:          "over node0/nic0/tx takes more than simulated time is for; write a higher cluster.nic_bandwidth",
		`cluster.nic_efficiency=1e-300`:          "write a higher cluster.nic_bandwidth or nic_efficiency",
		`cluster.nvlink_efficiency=1e-12`:        "write a higher cluster.nvlink_bandwidth or nvlink_efficiency",
		`cluster.pcie_bandwidth="1kB/s"`:         "write a higher cluster.pcie_bandwidth",
		`gpu.launch_gap="10000s"`:                "the run takes more than simulated time is for, with kernels of 10000s; write a shorter gpu.launch_gap",
		`gpu.launch_gap="9000000s"`:              "more than simulated time is for; write a shorter gpu.launch_gap",
		`gpu.streaming.norm=1e-10`:               "write a higher gpu.memory_bandwidth or gpu.streaming.norm",
		`gpu.streaming.norm=1e-20`:               "write a higher gpu.memory_bandwidth or gpu.streaming.norm",
		`gpu.streaming.latency="9000000s"`:       "write a shorter gpu.streaming.latency",
		`gpu.attention.forward.efficiency=1e-15`: "write higher rates in gpu.peak and gpu.attention",
	} {
		r := inTime(t, "run", "70b-tp4-pp2", "--no-plots", "--set", set)
		assert.Equal(t, exitUnrunnable, r.code, set)
		assert.Contains(t, r.stderr, want, set)
	}
	for _, with := range [][]string{nil, {"--with", "all-gather:1024T"}} {
		args := append([]string{"collective", "all-reduce", "--cluster", "dgx-h100", "--ranks", "16", "--sizes", "1024T", "--nic-bandwidth", "1kB/s"}, with...)
		r := inTime(t, args...)
		assert.Equal(t, exitUnrunnable, r.code, with)
		assert.Contains(t, r.stderr, "write a smaller size, or a cluster with a higher nic_bandwidth", with)
	}
}

// inTime runs a command that must end within a minute.
func inTime(t *testing.T, args ...string) result {
	ended := make(chan result, 1)
	go func() { ended <- trainsim(args...) }()
	select {
	case r := <-ended:
		return r
	case <-time.After(time.Minute):
		t.Fatalf("%v does not end", args)
		return result{}
	}
}
