package memory

import "trainsim/sim"

// DriverWork counts what the driver was asked to do. Each call costs time on
// the host that makes it; cudaFree and the synchronisation of a flush also
// wait for the device.
type DriverWork struct {
	Mallocs, Frees int // cudaMalloc (failed ones too) and cudaFree
	Maps, Unmaps   int // granules mapped and unmapped (expandable segments)
	UnmapCalls     int // unmappings, each of which waits for the stream
	Syncs          int // waits for all streams: flushes of the cache
}

// Any reports whether the driver was asked to do anything.
func (w DriverWork) Any() bool { return w != DriverWork{} }

// DriverWork returns what the driver did since the last call.
func (a *Allocator) DriverWork() DriverWork {
	w := a.work
	a.work = DriverWork{}
	return w
}

// DriverCosts are the driver's times on the host for one call each.
type DriverCosts struct {
	Malloc sim.Time // cudaMalloc
	Free   sim.Time // cudaFree, without the wait for the device
	Map    sim.Time // creating and mapping one granule of an expandable segment
	Unmap  sim.Time // unmapping and releasing one
}

// Time returns how long the host is busy with w. The waits for the device, one
// for each of w.Syncs, w.Frees and w.UnmapCalls, come on top: how long they
// take depends on what is queued there.
func (w DriverWork) Time(c DriverCosts) sim.Time {
	return sim.Time(w.Mallocs)*c.Malloc + sim.Time(w.Frees)*c.Free +
		sim.Time(w.Maps)*c.Map + sim.Time(w.Unmaps)*c.Unmap
}

// Waits reports whether w contains a call that waits for the device.
func (w DriverWork) Waits() bool { return w.Syncs+w.Frees+w.UnmapCalls > 0 }
