package model

import "trainsim/sim/input"

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

// Family is a kind of model: what the keys of a configuration mean.
type Family interface {
	// Problems returns every way in which the configuration describes no model.
	Problems(c *Config) []*input.Problem
	// Misfits returns every reason for which the model cannot be cut as a layout
	// says.
	Misfits(c *Config, l *Layout) []*input.Problem
	// Stack returns the layers of the model.
	Stack(c *Config) Stack
}

// families holds the kinds of model by their names in Config.Family.
var families = map[string]Family{"": transformer{}}

// Register adds a kind of model under a name for Config.Family. It is for a
// package's initialisation.
func Register(name string, f Family) { families[name] = f }
