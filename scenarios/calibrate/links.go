package calibrate

import (
	"strconv"

	"trainsim/interconnect"
)

// linkKnob is one figure of a cluster's links that can be fitted.
type linkKnob struct {
	key    string
	lo, hi float64
	value  func(*interconnect.Config) *float64
	text   func(float64) string
}

// linkKnobs returns the figures that decide the speed of a cluster's links.
func linkKnobs(c *interconnect.Config) []linkKnob {
	var out []linkKnob
	if c.NVLinks > 0 {
		out = append(out, linkKnob{"nvlink_efficiency", 0.1, 1,
			func(c *interconnect.Config) *float64 { return &c.NVLinkEfficiency }, fraction})
	}
	if c.Kind == interconnect.PCIe || c.NVLinks == 0 || c.IslandSize > 0 {
		out = append(out,
			rateKnob("pcie_bandwidth", func(c *interconnect.Config) *float64 { return (*float64)(&c.PCIeBandwidth) }),
			linkKnob{"host_copy_efficiency", 0.02, 1,
				func(c *interconnect.Config) *float64 { return &c.HostCopyEfficiency }, fraction},
			rateKnob("host_memory_bandwidth",
				func(c *interconnect.Config) *float64 { return (*float64)(&c.HostMemoryBandwidth) }))
		if c.Sockets != 1 {
			out = append(out, rateKnob("socket_bandwidth",
				func(c *interconnect.Config) *float64 { return (*float64)(&c.SocketBandwidth) }))
		}
	}
	if c.NICs > 0 {
		out = append(out, linkKnob{"nic_efficiency", 0.1, 1,
			func(c *interconnect.Config) *float64 { return &c.NICEfficiency }, fraction})
	}
	if t, err := interconnect.Build(*c); err == nil {
		known := t.Config() // defaults written out
		for _, k := range out {
			*k.value(c) = *k.value(known)
		}
	}
	return out
}

func rateKnob(key string, value func(*interconnect.Config) *float64) linkKnob {
	return linkKnob{key, 1e8, 1e13, value, func(x float64) string {
		return strconv.Quote(strconv.FormatFloat(x/1e9, 'f', 3, 64) + "GB/s")
	}}
}

func fraction(x float64) string { return strconv.FormatFloat(x, 'f', 4, 64) }
