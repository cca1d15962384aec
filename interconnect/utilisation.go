package interconnect

import "trainsim/sim"

// Utilisation is what one link did in a run.
type Utilisation struct {
	Link  LinkID
	Bytes float64  // carried by finished transfers
	Busy  sim.Time // with at least one transfer on it
}

// Utilisation returns, for every link that carried anything, what it did until
// now.
func (n *Network) Utilisation() []Utilisation {
	var all []Utilisation
	for i := range n.links {
		l := &n.links[i]
		u := Utilisation{Link: LinkID(i), Bytes: l.bytes, Busy: l.busy}
		if len(l.flows) > 0 {
			u.Busy += n.engine.Now() - l.busySince
		}
		if u.Bytes > 0 || u.Busy > 0 {
			all = append(all, u)
		}
	}
	return all
}
