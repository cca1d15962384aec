package chart

import (
	"fmt"
	"math"
	"slices"
)

// Options say how a figure looks. The zero value is a slide: 1600 by 900
// pixels, titled after the scenario, PNG.
type Options struct {
	// Width and Height are in pixels of 1/96 inch, from 320 to 10000; 0 is
	// 1600 and 900. Text grows and shrinks with them.
	Width, Height float64
	// Title stands in place of the scenario's name.
	Title string
	// Format is png, svg or pdf: the ending of the files. Empty is png.
	Format string
}

// Formats lists the endings that a figure can be saved under.
var Formats = []string{"png", "svg", "pdf"}

const (
	defaultWidth, defaultHeight = 1600, 900
	minPixels, maxPixels        = 320, 10000
)

// Check says what is wrong with the options, if anything.
func (o Options) Check() error {
	_, err := o.Resolve()
	return err
}

// Resolve writes the defaults out and refuses what cannot be drawn.
func (o Options) Resolve() (Options, error) {
	if o.Width == 0 {
		o.Width = defaultWidth
	}
	if o.Height == 0 {
		o.Height = defaultHeight
	}
	for _, px := range []float64{o.Width, o.Height} {
		if !(px >= minPixels && px <= maxPixels) {
			return o, fmt.Errorf("plots: a figure of %g x %g pixels; write from %d to %d for each", o.Width, o.Height,
				minPixels, maxPixels)
		}
	}
	o.Width, o.Height = math.Round(o.Width), math.Round(o.Height)
	if o.Format == "" {
		o.Format = Formats[0]
	}
	return o, checkFormat(o.Format)
}

func checkFormat(format string) error {
	if !slices.Contains(Formats, format) {
		return fmt.Errorf("plots: cannot write %.20q; write png, svg or pdf", format)
	}
	return nil
}
