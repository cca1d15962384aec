package model

// Layer is one layer of a model, or what stands at one of its ends: the
// embedding before the layers, the head with the loss behind them. It is a
// comparable value, and layers that are equal run the same operators: chunks of
// equal layers share their code.
type Layer interface {
	// Input returns the rows and the width of what one rank gets from the layer
	// before.
	Input(s *Spec) (rows, width int64)
	// Forward emits the operators of the forward, tells the builder how to go
	// back through them, and returns the layer's output. Recomputation runs it
	// once more.
	Forward(b *Builder, x Value) Value
	// Parameters returns the trainable parameters of the layer over all ranks.
	Parameters(c *Config) int64
	// Work returns the operations of the layer's forward for one token.
	Work(c *Config) Work
}

// Work is operations for one token.
type Work struct {
	// FLOPs are all of the model's, as the field counts them.
	FLOPs float64
	// Core are those of FLOPs that selective recomputation repeats.
	Core float64
	// Routed are those on the rows that experts are sent, whatever their capacity.
	Routed float64
}

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

// Family is a kind of model: what the keys of a configuration mean.
type Family interface {
	// Problems returns every way in which the configuration describes no model.
	Problems(c *Config) []Problem
	// Stack returns the layers of the model.
	Stack(c *Config) Stack
}

// families holds the kinds of model by their names in Config.Family.
var families = map[string]Family{"": transformer{}}

// Register adds a kind of model under a name for Config.Family. It is for a
// package's initialisation.
func Register(name string, f Family) { families[name] = f }

// stack returns the layers of the model.
func (c *Config) stack() Stack { return families[c.Family].Stack(c) }

// at returns the layer of an index. Behind the last one all are like it: costs
// are asked for more layers of a kind than a model has.
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

// all returns the run of the whole model.
func (s *Stack) all() Run {
	r := Run{Embeds: true, Ends: true}
	for _, b := range s.Blocks {
		r.Layers += int(b.Count)
	}
	return r
}
