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
	for id, at := range n.linkAt {
		if at == 0 {
			continue
		}
		l := &n.links[at-1]
		u := Utilisation{Link: LinkID(id), Bytes: l.bytes, Busy: l.busy}
		if len(l.flows) > 0 {
			u.Busy += n.engine.Now() - l.busySince
		}
		if u.Bytes > 0 || u.Busy > 0 {
			all = append(all, u)
		}
	}
	return all
}
