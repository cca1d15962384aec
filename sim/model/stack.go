package model

import "slices"

// Stack is the layers of a model, in order.
type Stack struct {
	// Embedding and Head are the ends, nil where there is none.
	Embedding, Head Layer
	// Blocks are the layers between them, which pipeline stages share out.
	Blocks []Block
}

// Block is equal layers that follow each other.
type Block struct {
	Layer Layer
	Count int64
}

// Run is layers that follow each other, with the ends where they are among them.
type Run struct {
	First, Layers int
	Embeds, Ends  bool
}

// Depth returns the number of layers between the ends.
func (c *Config) Depth() int {
	s := c.stack()
	return s.all().Layers
}

// Split returns the run of each of several stages in a row, of so many layers.
// Runs of equal layers are equal, so that stages can share their code: each is
// the first of its kind in the model.
func (c *Config) Split(layers []int) []Run {
	s := c.stack()
	out := make([]Run, len(layers))
	first := 0
	for i, n := range layers {
		out[i] = Run{
			First: s.earliest(first, n), Layers: n,
			Embeds: i == 0 && s.Embedding != nil && !c.Bare, Ends: i == len(layers)-1 && s.Head != nil && !c.Bare,
		}
		first += n
	}
	return out
}

// Whole returns the run of all layers.
func (c *Config) Whole() Run { return c.Split([]int{c.Depth()})[0] }

// Kinds returns a run of one layer of each kind that the model has: base of the
// last layer's, of which a run may have more layers than the model, and others.
func (c *Config) Kinds() (others []Run, base Run) {
	s := c.stack()
	first := 0
	for i, b := range s.Blocks {
		again := slices.ContainsFunc(s.Blocks[i+1:], func(o Block) bool { return o.Layer == b.Layer })
		switch {
		case i == len(s.Blocks)-1:
			base = Run{First: first, Layers: 1}
		case !again && b.Count > 0:
			others = append(others, Run{First: first, Layers: 1})
		}
		first += int(b.Count)
	}
	return others, base
}

// Count returns how many layers of a run are of the kind that another run of one
// layer is.
func (c *Config) Count(r, kind Run) int {
	s := c.stack()
	n := int64(0)
	for _, b := range s.units(Run{First: r.First, Layers: r.Layers}) {
		if b.Layer == s.at(kind.First) {
			n += b.Count
		}
	}
	return int(n)
}

// stack returns the layers of the model.
func (c *Config) stack() Stack { return families[c.Family].Stack(c) }

// all returns the run of the whole model.
func (s *Stack) all() Run {
	r := Run{Embeds: true, Ends: true}
	for _, b := range s.Blocks {
		r.Layers += int(b.Count)
	}
	return r
}

// at returns the layer of an index. Behind the last one all are like it.
func (s *Stack) at(index int) Layer {
	left := int64(index)
	for i := range s.Blocks {
		if left < s.Blocks[i].Count {
			return s.Blocks[i].Layer
		}
		left -= s.Blocks[i].Count
	}
	return s.Blocks[len(s.Blocks)-1].Layer
}

// units returns the layers of a run, with its ends.
func (s *Stack) units(r Run) []Block {
	var out []Block
	if r.Embeds && s.Embedding != nil {
		out = append(out, Block{s.Embedding, 1})
	}
	from, to := int64(r.First), int64(r.First+r.Layers)
	for _, b := range s.Blocks {
		if n := min(to, b.Count) - max(from, 0); n > 0 {
			out = append(out, Block{b.Layer, n})
		}
		from, to = from-b.Count, to-b.Count
	}
	if r.Ends && s.Head != nil {
		out = append(out, Block{s.Head, 1})
	}
	return out
}

// earliest returns the first index from which n layers follow that are equal to
// those from index first on. A run that could begin elsewhere begins where a
// block does or ends where one ends.
func (s *Stack) earliest(first, n int) int {
	if n == 0 {
		return 0
	}
	want := s.units(Run{First: first, Layers: n})
	best, start := int64(first), int64(0)
	for _, b := range s.Blocks {
		for _, at := range []int64{start, start + b.Count - want[0].Count} {
			if at >= start && at < best && slices.Equal(s.units(Run{First: int(at), Layers: n}), want) {
				best = at
			}
		}
		start += b.Count
	}
	return int(best)
}
