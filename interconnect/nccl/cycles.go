package nccl

// packBudget bounds the search for rings in an NVLink mesh: how often a cycle
// is tried against the room that is left.
const packBudget = 200_000

// maxCycles is how many cycles a search considers: all of a full mesh of eight.
const maxCycles = 5040

// packer finds as many directed Hamiltonian cycles as possible in a mesh whose
// edges each have room for a number of rings.
type packer struct {
	room   [][]int
	cycles [][]int // all cycles of the mesh, from 0
	chosen []int
	best   []int
	bound  int // no node has room for more rings
	budget int
	steps  int // left for listing cycles
}

// packCycles returns the cycles found, the same one several times where that
// fits.
func packCycles(room [][]int) [][]int {
	p := &packer{room: room, budget: packBudget, steps: packBudget}
	p.enumerate([]int{0}, make([]bool, len(room)))
	p.bound = p.bounded()
	p.search(0)
	out := make([][]int, len(p.best))
	for i, k := range p.best {
		out[i] = p.cycles[k]
	}
	return out
}

// enumerate lists the Hamiltonian cycles that continue a path, up to a number
// that the search can handle.
func (p *packer) enumerate(path []int, used []bool) {
	n := len(p.room)
	last := path[len(path)-1]
	if p.steps--; p.steps < 0 || len(p.cycles) == maxCycles {
		return
	}
	if len(path) == n {
		if p.room[last][0] > 0 {
			p.cycles = append(p.cycles, append([]int(nil), path...))
		}
		return
	}
	for next := 1; next < n; next++ {
		if !used[next] && p.room[last][next] > 0 {
			used[next] = true
			p.enumerate(append(path, next), used)
			used[next] = false
		}
	}
}

// bounded returns the smallest number of rings that can leave or enter a node.
func (p *packer) bounded() int {
	bound := 1 << 30
	for i := range p.room {
		out, in := 0, 0
		for j := range p.room {
			out += p.room[i][j]
			in += p.room[j][i]
		}
		bound = min(bound, out, in)
	}
	return bound
}

// search adds cycles, the widest first, and backtracks while its budget lasts.
// Cycles come in index order from first on, so that no set is tried twice.
func (p *packer) search(first int) {
	if len(p.chosen) > len(p.best) {
		p.best = append(p.best[:0], p.chosen...)
	}
	if p.budget < 0 || len(p.best) == p.bound || len(p.chosen)+p.bounded() <= len(p.best) {
		return
	}
	for k := first; k < len(p.cycles) && p.budget > 0 && len(p.best) < p.bound; k++ {
		if p.budget--; !p.fits(p.cycles[k]) {
			continue
		}
		p.take(p.cycles[k], -1)
		p.chosen = append(p.chosen, k)
		p.search(k)
		p.chosen = p.chosen[:len(p.chosen)-1]
		p.take(p.cycles[k], 1)
	}
}

func (p *packer) fits(cycle []int) bool {
	for i, a := range cycle {
		if p.room[a][cycle[(i+1)%len(cycle)]] <= 0 {
			return false
		}
	}
	return true
}

func (p *packer) take(cycle []int, d int) {
	for i, a := range cycle {
		p.room[a][cycle[(i+1)%len(cycle)]] += d
	}
}
