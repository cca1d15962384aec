package interconnect

// searchRings returns the rings of a communicator.
func (c *Communicator) searchRings() []ring {
	return []ring{{order: c.devices, share: 1}}
}
