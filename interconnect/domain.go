package interconnect

// DomainSize returns the number of GPUs that are as near to each other as those
// of a node: a node's, or those of a rack's nodes where NVSwitches join them.
func (c *Config) DomainSize() int {
	if c.Topology != nil {
		return c.Topology.GPUs()
	}
	merged, _ := c.byDomain()
	return merged.GPUsPerNode
}

// NodeGPUs returns how many GPUs of a node take part: those that are visible,
// else all that the topology shows or the configuration counts.
func (c *Config) NodeGPUs() int {
	switch {
	case len(c.VisibleDevices) > 0:
		return len(c.VisibleDevices)
	case c.Topology != nil:
		return c.Topology.GPUs()
	}
	return c.GPUsPerNode
}

// byDomain returns the configuration with each NVLink domain as one node, and
// how many nodes (trays) such a domain is. NCCL looks at it in the same way: it
// merges the nodes that NVLink joins (multi-node NVLink) into one, and rings,
// trees and NVLink SHARP see racks where they would see nodes.
func (c Config) byDomain() (merged Config, trays int) {
	if c.NVLinkDomain <= c.GPUsPerNode || c.GPUsPerNode == 0 {
		return c, 1
	}
	setInt(&c.Nodes, 1)
	trays = c.NVLinkDomain / c.GPUsPerNode
	domains := (c.Nodes + trays - 1) / trays
	switch {
	case domains == 1:
		trays = c.Nodes
	case c.Nodes%domains == 0:
		trays = c.Nodes / domains
	}
	merged = c
	merged.Nodes = domains
	merged.GPUsPerNode *= trays
	merged.NICs *= trays
	merged.Sockets *= trays
	merged.NodesPerLeaf = max(c.NodesPerLeaf/trays, 1)
	merged.VisibleDevices = nil
	for tray := range trays {
		for _, d := range c.VisibleDevices {
			merged.VisibleDevices = append(merged.VisibleDevices, tray*c.GPUsPerNode+d)
		}
	}
	return merged, trays
}

// TrayOf returns the machine inside its domain that a device is in.
func (t *Topology) TrayOf(device int) int {
	return t.gpu(device) / (len(t.domain.gpus) / t.domain.trays)
}
