package job

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"trainsim/interconnect"
	"trainsim/sim"
	"trainsim/sim/input"
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

// Fault is one parsed entry.
type Fault struct {
	Name   string
	Factor float64
	From   sim.Time
}

// leastFactor is the slowest that a fault makes a thing: what takes longer still
// ends after the largest time that can be written.
const leastFactor = 1e-6

// ParseFault reads an entry of the lists of Faults.
func ParseFault(text string) (Fault, error) {
	name, rest, ok := strings.Cut(text, "=")
	amount, at, timed := strings.Cut(rest, "@")
	x, err := strconv.ParseFloat(strings.TrimSpace(amount), 64)
	if !ok || err != nil || !(x >= leastFactor && x <= 1) {
		return Fault{}, fmt.Errorf(
			"%q is not a fault; write NAME=FACTOR or NAME=FACTOR@TIME with a factor from 0.000001 to 1, such as "+
				"\"node0/nic0/tx=0.5@100ms\"", text,
		)
	}
	f := Fault{Name: strings.TrimSpace(name), Factor: x}
	if timed {
		if f.From, err = sim.ParseTime(at); err != nil {
			return Fault{}, fmt.Errorf("%q: %w", text, err)
		}
	}
	return f, nil
}

// Rank returns the rank that the entry names, -1 if it names none.
func (f *Fault) Rank(ranks int) int {
	r, err := strconv.Atoi(f.Name)
	if err != nil || r < 0 || r >= ranks {
		return -1
	}
	return r
}

// Concerns reports whether the entry means the link.
func (f *Fault) Concerns(link string) bool {
	return link == f.Name || (strings.HasSuffix(f.Name, "/") && strings.HasPrefix(link, f.Name))
}

// Validate returns what is wrong with the faults of a job of so many ranks;
// ValidateLinks checks the names of links.
func (f *Faults) Validate(ranks int) error {
	if !(f.Jitter >= 0 && f.Jitter <= 1) {
		return input.Bad("jitter", "%g is not a share; write a number from 0 to 1, such as 0.02", f.Jitter)
	}
	for _, text := range f.Links {
		if _, err := ParseFault(text); err != nil {
			return input.Bad("slow_links", "%v", err)
		}
	}
	for _, text := range f.GPUs {
		x, err := ParseFault(text)
		if err != nil {
			return input.Bad("slow_gpus", "%v", err)
		}
		if x.Rank(ranks) < 0 {
			return input.Bad("slow_gpus", "%q is not a rank; write 0 to %d", x.Name, ranks-1)
		}
	}
	return nil
}

// ValidateLinks returns which fault names no link of the cluster.
func (f *Faults) ValidateLinks(t *interconnect.Topology) error {
	for _, text := range f.Links {
		x, err := ParseFault(text)
		if err != nil {
			return input.Bad("slow_links", "%v", err)
		}
		known := false
		for _, l := range t.All() {
			known = known || x.Concerns(l.Name)
		}
		if !known {
			return input.Bad(
				"slow_links", "the cluster has no link %q; write one of its links, such as %s", x.Name,
				nearestLinks(t, x.Name),
			)
		}
	}
	return nil
}

// nearestLinks names links whose names begin and end like name.
func nearestLinks(t *interconnect.Topology, name string) string {
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
	var names []string
	for _, l := range t.All() {
		names = append(names, l.Name)
	}
	slices.SortStableFunc(names, func(a, b string) int { return common(b) - common(a) })
	return strings.Join(names[:min(3, len(names))], ", ")
}
