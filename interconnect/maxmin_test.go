package interconnect

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim"
)

// measure returns the weight by which each transfer is measured: that on the
// link, of those which it shares, that it loads most for the capacity.
func measure(capacity []float64, plans []*Transfer) []float64 {
	users := make([]int, len(capacity))
	for _, p := range plans {
		for _, u := range p.Links {
			users[u.Link]++
		}
	}
	weight := make([]float64, len(plans))
	for i, p := range plans {
		load := 0.0
		weight[i] = 1
		for _, u := range p.Links {
			if x := u.Weight / capacity[u.Link]; users[u.Link] > 1 && x > load {
				load, weight[i] = x, u.Weight
			}
		}
	}
	return weight
}

// fullMaxMin is the slow, obvious solver: all transfers grow together, as they
// are measured, from one saturation to the next; residuals are summed anew each
// time.
func fullMaxMin(capacity []float64, plans []*Transfer) []float64 {
	weight := measure(capacity, plans)
	rate := make([]float64, len(plans))
	fixed := make([]bool, len(plans))
	for {
		level := math.Inf(1)
		for l := range capacity {
			used, growth := 0.0, 0.0
			for i, p := range plans {
				for _, u := range p.Links {
					if int(u.Link) != l {
						continue
					}
					if fixed[i] {
						used += u.Weight * rate[i]
					} else {
						growth += u.Weight / weight[i]
					}
				}
			}
			if growth > 0 {
				level = min(level, max(capacity[l]-used, 0)/growth)
			}
		}
		open := false
		for i, p := range plans {
			if !fixed[i] {
				open = true
				if p.Cap > 0 {
					level = min(level, p.Cap*weight[i])
				}
			}
		}
		if !open {
			return rate
		}
		freezeAt(level, capacity, plans, weight, rate, fixed)
	}
}

// freezeAt fixes every open transfer that is at its cap or on a full link.
func freezeAt(level float64, capacity []float64, plans []*Transfer, weight, rate []float64, fixed []bool) {
	trial := make([]float64, len(plans))
	for i := range plans {
		trial[i] = level / weight[i]
		if fixed[i] {
			trial[i] = rate[i]
		}
	}
	loads := linkLoads(len(capacity), plans, trial)
	for i, p := range plans {
		if fixed[i] {
			continue
		}
		full := p.Cap > 0 && p.Cap <= trial[i]*(1+1e-12)
		for _, u := range p.Links {
			full = full || loads[u.Link] >= capacity[u.Link]*(1-1e-12)
		}
		if full {
			rate[i], fixed[i] = trial[i], true
		}
	}
}

func linkLoads(links int, plans []*Transfer, rate []float64) []float64 {
	loads := make([]float64, links)
	for i, p := range plans {
		for _, u := range p.Links {
			loads[u.Link] += u.Weight * rate[i]
		}
	}
	return loads
}

// certify checks the definition of max-min fairness: no link above capacity,
// and every transfer at its cap or on a full link on which it is fastest, as it
// is measured.
func certify(t *testing.T, capacity []float64, plans []*Transfer, rate []float64) {
	const eps = 1e-9
	loads := linkLoads(len(capacity), plans, rate)
	weight := measure(capacity, plans)
	fastest := make([]float64, len(capacity))
	for i, p := range plans {
		for _, u := range p.Links {
			fastest[u.Link] = max(fastest[u.Link], rate[i]*weight[i])
		}
	}
	for l, load := range loads {
		require.LessOrEqual(t, load, capacity[l]*(1+eps), "link %d: %v of %v", l, rate, capacity)
	}
	for i, p := range plans {
		ok := p.Cap > 0 && rate[i] >= p.Cap*(1-eps)
		for _, u := range p.Links {
			full := loads[u.Link] >= capacity[u.Link]*(1-eps)
			ok = ok || (full && rate[i]*weight[i] >= fastest[u.Link]*(1-eps))
		}
		require.True(t, ok, "transfer %d at %g has no bottleneck", i, rate[i])
		require.Positive(t, rate[i])
	}
}

// bareTopology is a topology of nothing but links.
func bareTopology(capacity []float64) *Topology {
	t := &Topology{}
	for i, c := range capacity {
		t.fabric.links = append(t.fabric.links, Link{Name: fmt.Sprint("l", i), Capacity: c})
	}
	return t
}

// custom is any traffic: bytes that cross the links with the weights given, after
// latency, at most limit bytes a second (0: no own limit).
func custom(top *Topology, latency sim.Time, bytes int64, limit float64, uses []LinkUse) *Transfer {
	tr := top.Traffic(uses)
	x := top.Transfer(&tr, bytes, latency, limit)
	return &x
}

// randomPlans makes transfers over random links with random weights and caps.
func randomPlans(r *rand.Rand, top *Topology, n int) []*Transfer {
	plans := make([]*Transfer, n)
	for i := range plans {
		var uses []LinkUse
		for l := range top.Links() {
			if r.IntN(top.Links()) < 3 {
				weight := 1.0
				if r.IntN(2) == 0 {
					weight = math.Exp(2 * r.NormFloat64())
				}
				uses = append(uses, LinkUse{LinkID(l), weight})
			}
		}
		cap := 0.0
		if len(uses) == 0 || r.IntN(4) == 0 {
			cap = 1e8 * math.Exp(2*r.NormFloat64())
		}
		plans[i] = custom(top, sim.Time(r.IntN(3))*sim.Microsecond, 1+r.Int64N(1e6), cap, uses)
	}
	return plans
}

func randomCapacities(r *rand.Rand) []float64 {
	capacity := make([]float64, 1+r.IntN(12))
	for i := range capacity {
		capacity[i] = 1e9
		if r.IntN(2) == 0 {
			capacity[i] = 1e9 * math.Exp(r.NormFloat64())
		}
	}
	return capacity
}

// active returns the network's transfers on links and their rates.
func (n *Network) activeRates() (plans []*Transfer, rates []float64) {
	for i := range n.flows {
		if f := &n.flows[i]; f.state == alone || f.state == contended {
			plans, rates = append(plans, f.transfer), append(rates, f.rate)
		}
	}
	return plans, rates
}

// TestRandomNetworks runs thousands of random transfers on random links and
// checks the rates after every instant: the definition of fairness, and the
// component solver against the full one.
func TestRandomNetworks(t *testing.T) {
	instants := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		capacity := randomCapacities(r)
		top := bareTopology(capacity)
		var e sim.Engine
		n := NewNetwork(&e, top)
		starts := &starter{n: n, plans: randomPlans(r, top, 2+r.IntN(30))}
		starts.id = e.Register(starts)
		for i := range starts.plans {
			e.At(sim.Time(r.IntN(20))*sim.Microsecond*20, starts.id, 0, uint32(i))
		}
		if seed%3 == 0 {
			n.SetCapacity(LinkID(r.IntN(len(capacity))), 0.5, 100*sim.Microsecond)
		}
		for e.Pending() > 0 {
			step := max(7*sim.Microsecond, e.Now()/8)
			e.At(e.Now()+step, starts.id, 1, 0)
			require.NoError(t, e.RunUntil(context.Background(), e.Now()+step))
			instants += checkRates(t, n)
			if starts.done == len(starts.plans) {
				break
			}
		}
		require.Equal(t, len(starts.plans), starts.done)
	}
	require.Greater(t, instants, 2000)
}

func checkRates(t *testing.T, n *Network) int {
	plans, rates := n.activeRates()
	if len(plans) == 0 {
		return 0
	}
	now := make([]float64, n.topology.Links())
	for i := range now {
		now[i] = n.links[n.link(LinkID(i))].capacity
	}
	certify(t, now, plans, rates)
	for i, want := range fullMaxMin(now, plans) {
		require.InEpsilon(t, want, rates[i], 1e-9)
	}
	return 1
}

// starter starts plan arg on event kind 0, ignores kind 1, counts ends as 2.
type starter struct {
	n     *Network
	id    sim.HandlerID
	plans []*Transfer
	done  int
}

func (s *starter) Handle(_ *sim.Engine, kind uint16, arg uint32) error {
	switch kind {
	case 0:
		s.n.Start(s.plans[arg], 0, s.id, 2, arg)
	case 2:
		s.done++
	}
	return nil
}

func TestFullSolverByHand(t *testing.T) {
	// Link 0 of 10 carries a and b, link 1 of 4 carries b and c: b and c get 2
	// each, a the remaining 8.
	use := func(links ...LinkID) *Transfer {
		p := &Transfer{}
		for _, l := range links {
			p.Links = append(p.Links, LinkUse{l, 1})
		}
		return p
	}
	assert.Equal(t, []float64{8, 2, 2}, fullMaxMin([]float64{10, 4}, []*Transfer{use(0), use(0, 1), use(1)}))
	capped := use(0)
	capped.Cap = 1
	assert.Equal(t, []float64{1, 9}, fullMaxMin([]float64{10}, []*Transfer{capped, use(0)}))
}
