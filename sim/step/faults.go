package step

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"trainsim/interconnect"
	"trainsim/sim"
)

// Faults are departures from a healthy cluster, as data. The entries of the
// lists are "NAME=FACTOR" or "NAME=FACTOR@TIME": the part of its speed that a
// link or GPU keeps, from a time of the step on.
type Faults struct {
	// Links slow links by name, as in "node0/nic0/tx=0.5"; a name that ends in
	// "/" slows all links below it, as in "node3/nic0/=0.1@200ms".
	Links []string `toml:"slow_links"`
	// GPUs slow the kernels of a rank, as in "5=0.8".
	GPUs []string `toml:"slow_gpus"`
	// Jitter is the standard deviation of a kernel's time, as a share of it.
	Jitter float64 `toml:"jitter"`
}

// Any reports whether there is any fault.
func (f *Faults) Any() bool { return len(f.Links)+len(f.GPUs) > 0 || f.Jitter > 0 }

// fault is one parsed entry.
type fault struct {
	name   string
	factor float64
	from   sim.Time
}

// leastFactor is the slowest that a fault makes a thing: what takes longer still
// ends after the largest time that can be written.
const leastFactor = 1e-6

func parseFault(text string) (fault, error) {
	name, rest, ok := strings.Cut(text, "=")
	amount, at, timed := strings.Cut(rest, "@")
	x, err := strconv.ParseFloat(strings.TrimSpace(amount), 64)
	if !ok || err != nil || !(x >= leastFactor && x <= 1) {
		return fault{}, fmt.Errorf("%q is not a fault; write NAME=FACTOR or NAME=FACTOR@TIME with a factor from 0.000001 to 1, such as \"node0/nic0/tx=0.5@100ms\"", text)
	}
	f := fault{name: strings.TrimSpace(name), factor: x}
	if timed {
		if f.from, err = sim.ParseTime(at); err != nil {
			return fault{}, fmt.Errorf("%q: %w", text, err)
		}
	}
	return f, nil
}

// rank returns the rank that the entry names, -1 if it names none.
func (f *fault) rank(ranks int) int {
	r, err := strconv.Atoi(f.name)
	if err != nil || r < 0 || r >= ranks {
		return -1
	}
	return r
}

// concerns reports whether the entry means the link.
func (f *fault) concerns(link string) bool {
	return link == f.name || (strings.HasSuffix(f.name, "/") && strings.HasPrefix(link, f.name))
}

// Validate returns what is wrong with the faults of a job of so many ranks;
// ValidateLinks checks the names of links.
func (f *Faults) Validate(ranks int) error {
	if !(f.Jitter >= 0 && f.Jitter <= 1) {
		return fmt.Errorf("jitter: %g is not a share; write a number from 0 to 1, such as 0.02", f.Jitter)
	}
	for _, text := range f.Links {
		if _, err := parseFault(text); err != nil {
			return fmt.Errorf("slow_links: %w", err)
		}
	}
	for _, text := range f.GPUs {
		x, err := parseFault(text)
		if err != nil {
			return fmt.Errorf("slow_gpus: %w", err)
		}
		if x.rank(ranks) < 0 {
			return fmt.Errorf("slow_gpus: %q is not a rank; write 0 to %d", x.name, ranks-1)
		}
	}
	return nil
}

// slowGPU is a rank whose kernels take longer from a time on.
type slowGPU struct {
	from  sim.Time
	slow  float64 // 1/factor
	valid bool
}

// troubles applies a job's faults to a machine.
type troubles struct {
	slow   []slowGPU // by rank, nil if none
	jitter float64
	draw   []*rand.Rand // by rank, nil without jitter
}

// plant prepares the machine's faults; names of links that the cluster does
// not have are errors.
func (m *machine) plant() error {
	f := &m.job.Config.Faults
	if !f.Any() {
		return nil
	}
	t := &troubles{jitter: f.Jitter}
	m.troubles = t
	for _, text := range f.GPUs {
		x, err := parseFault(text)
		if err != nil {
			return err
		}
		r := x.rank(m.job.Ranks())
		if r < 0 {
			return fmt.Errorf("faults.slow_gpus: %q is not a rank; write 0 to %d", x.name, m.job.Ranks()-1)
		}
		if t.slow == nil {
			t.slow = make([]slowGPU, len(m.ranks))
		}
		t.slow[m.crew.actor(int32(r))] = slowGPU{from: x.from, slow: 1 / x.factor, valid: true}
	}
	if f.Jitter > 0 {
		for r := range m.ranks {
			t.draw = append(t.draw, sim.NewRand(m.job.Config.Seed, fmt.Sprintf("jitter/rank%d", r)))
		}
	}
	return m.plantLinks(f.Links)
}

func (m *machine) plantLinks(faults []string) error {
	links := m.job.Topology.Links()
	for _, text := range faults {
		x, err := parseFault(text)
		if err != nil {
			return err
		}
		for id, l := range links {
			if x.concerns(l.Name) {
				m.network.SetCapacity(interconnect.LinkID(id), x.factor, x.from)
			}
		}
	}
	return m.job.Config.Faults.ValidateLinks(links)
}

// ValidateLinks returns which fault names no link of the cluster that has these.
func (f *Faults) ValidateLinks(links []interconnect.Link) error {
	for _, text := range f.Links {
		x, err := parseFault(text)
		if err != nil {
			return fmt.Errorf("slow_links: %w", err)
		}
		if !slices.ContainsFunc(links, func(l interconnect.Link) bool { return x.concerns(l.Name) }) {
			return fmt.Errorf("slow_links: the cluster has no link %q; write one of its links, such as %s", x.name, nearestLinks(links, x.name))
		}
	}
	return nil
}

// nearestLinks names links whose names begin and end like name.
func nearestLinks(links []interconnect.Link, name string) string {
	common := func(a string) int {
		n := 0
		for n < len(a) && n < len(name) && a[n] == name[n] {
			n++
		}
		m := 0
		for m < len(a)-n && m < len(name)-n && a[len(a)-1-m] == name[len(name)-1-m] {
			m++
		}
		return n + m
	}
	names := make([]string, len(links))
	for i, l := range links {
		names[i] = l.Name
	}
	slices.SortStableFunc(names, func(a, b string) int { return common(b) - common(a) })
	return strings.Join(names[:min(3, len(names))], ", ")
}

// trouble returns how long a kernel of a rank takes that starts at a time.
func (t *troubles) trouble(r int32, start, dur sim.Time) sim.Time {
	x := float64(dur)
	if t.slow != nil && t.slow[r].valid && start >= t.slow[r].from {
		x *= t.slow[r].slow
	}
	if t.draw != nil {
		x *= max(0.1, 1+float64(t.jitter*t.draw[r].NormFloat64()))
	}
	return sim.Time(math.Round(x))
}
