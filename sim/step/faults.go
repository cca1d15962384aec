package step

import (
	"fmt"
	"math/rand/v2"

	"trainsim/sim"
	"trainsim/sim/job"
)

// slowGPU is a rank whose kernels take longer from a time on.
type slowGPU struct {
	from  sim.Time
	slow  float64 // 1/factor
	valid bool
}

// faultState applies a job's faults to a machine.
type faultState struct {
	slow   []slowGPU // by rank, nil if none
	jitter float64
	draw   []*rand.Rand // by rank, nil without jitter
}

// injectFaults prepares the machine's faults; names of links that the cluster does
// not have are errors.
func (m *machine) injectFaults() error {
	f := &m.job.Config.Faults
	if !f.Any() {
		return nil
	}
	t := &faultState{jitter: f.Jitter}
	m.faults = t
	for _, text := range f.GPUs {
		x, err := job.ParseFault(text)
		if err != nil {
			return err
		}
		r := x.Rank(m.job.Ranks())
		if r < 0 {
			return fmt.Errorf("faults.slow_gpus: %q is not a rank; write 0 to %d", x.Name, m.job.Ranks()-1)
		}
		if t.slow == nil {
			t.slow = make([]slowGPU, len(m.ranks))
		}
		t.slow[m.folding.actor(int32(r))] = slowGPU{from: x.From, slow: 1 / x.Factor, valid: true}
	}
	if f.Jitter > 0 {
		for r := range m.ranks {
			t.draw = append(t.draw, sim.NewRand(m.job.Config.Seed, fmt.Sprintf("jitter/rank%d", r)))
		}
	}
	return m.injectLinkFaults(f.Links)
}

func (m *machine) injectLinkFaults(faults []string) error {
	for _, text := range faults {
		x, err := job.ParseFault(text)
		if err != nil {
			return err
		}
		for id, l := range m.job.Topology.All() {
			if x.Concerns(l.Name) {
				m.network.SetCapacity(id, x.Factor, x.From)
			}
		}
	}
	return m.job.Config.Faults.ValidateLinks(m.job.Topology)
}

// slowed returns how long a kernel of a rank takes that starts at a time.
func (t *faultState) slowed(r int32, start, dur sim.Time) sim.Time {
	x := float64(dur)
	if t.slow != nil && t.slow[r].valid && start >= t.slow[r].from {
		x *= t.slow[r].slow
	}
	if t.draw != nil {
		x *= max(0.1, 1+float64(t.jitter*t.draw[r].NormFloat64()))
	}
	return sim.FromPicoseconds(x)
}
