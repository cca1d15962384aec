package plots

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg/draw"

	"trainsim/sim/trace"
)

// Okabe and Ito's colours, https://jfly.uni-koeln.de/color/, and five more
// that keep their distance from them in normal, protan, deutan and tritan vision.
var (
	blue       = rgb(0x0072B2)
	orange     = rgb(0xE69F00)
	green      = rgb(0x009E73)
	sky        = rgb(0x56B4E9)
	purple     = rgb(0xCC79A7)
	yellow     = rgb(0xF0E442)
	vermillion = rgb(0xD55E00)
	black      = rgb(0x000000)
	brown      = rgb(0x804020)
	violet     = rgb(0x8000E0)
	graphite   = rgb(0x585858)
	leaf       = rgb(0x90C070)
	idleGrey   = rgb(0xE6E6E6)

	white    = rgb(0xFFFFFF)
	ink      = rgb(0x222222) // text and axes
	softInk  = rgb(0x555555) // subtitles
	gridGrey = rgb(0xDDDDDD)
	slate    = rgb(0x4C6A8A) // links, bars that are of no kind
)

// style is how one thing looks in every figure.
type style struct {
	label string
	color color.RGBA
}

// kindStyles is the one table of colours of spans; those of communication are in
// package trace's table of dimensions. Parts of a backward pass are the
// backward's colour and green; a memory kind below has the colour of the work
// that makes it.
var kindStyles = withDimensions([trace.NumKinds]style{
	trace.Forward:        {"forward", blue},
	trace.Backward:       {"backward", orange},
	trace.BackwardInput:  {"backward, input", orange},
	trace.BackwardWeight: {"backward, weights", green},
	trace.Recompute:      {"recomputation", sky},
	trace.Optimizer:      {"optimizer", purple},
	trace.HostWait:       {"waiting for the CPU", graphite},
	trace.Bubble:         {"bubble (idle)", idleGrey},
	trace.Evaluation:     {"evaluation", leaf},
})

func withDimensions(styles [trace.NumKinds]style) [trace.NumKinds]style {
	for d := range trace.NumDimensions {
		styles[d.Kind()] = style{d.Name() + " comm.", rgb(d.Color())}
	}
	return styles
}

// memoryStyle is one kind of memory, by its name in recordings and reports.
type memoryStyle struct {
	name string
	style
}

// memoryStyles is the one table of colours of memory, in the order in which
// the kinds are stacked: what lies outside the allocator first, then what
// stays, then what comes and goes.
var memoryStyles = []memoryStyle{
	{"context", style{"CUDA context", graphite}},
	{"comm_buffers", style{"communication buffers", vermillion}},
	{"weights", style{"weights", green}},
	{"gradients", style{"gradients", orange}},
	{"optimizer", style{"optimizer state", purple}},
	{"activations", style{"activations", blue}},
	{"temporaries", style{"temporaries", sky}},
}

var otherMemory = style{"other", idleGrey}

// KindColor returns the colour of a kind of span in every figure.
func KindColor(k trace.Kind) color.RGBA {
	if k < trace.NumKinds {
		return kindStyles[k].color
	}
	return slate
}

// MemoryColor returns the colour of a kind of memory ("weights", "gradients",
// "optimizer", "activations", "temporaries", "comm_buffers", "context"); every
// other name has one grey.
func MemoryColor(name string) color.RGBA {
	if i := memoryIndex(name); i < len(memoryStyles) {
		return memoryStyles[i].color
	}
	return otherMemory.color
}

// memoryIndex returns the name's place in memoryStyles, or their number for
// another name.
func memoryIndex(name string) int {
	for i, m := range memoryStyles {
		if m.name == name {
			return i
		}
	}
	return len(memoryStyles)
}

// series are the colours of families that no table names, in their order.
var series = []color.RGBA{blue, vermillion, green, purple, orange, black, sky, brown, violet, graphite}

// shapes tell more series apart than there are colours.
var shapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{}}

// seriesStyle returns the colour and shape of the i-th series.
func seriesStyle(i int) (color.RGBA, draw.GlyphDrawer) {
	return series[i%len(series)], shapes[i/len(series)%len(shapes)]
}

func rgb(hex uint32) color.RGBA {
	return color.RGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 255}
}

// darken returns c with its channels scaled by f.
func darken(c color.RGBA, f float64) color.RGBA {
	return color.RGBA{R: uint8(float64(c.R) * f), G: uint8(float64(c.G) * f), B: uint8(float64(c.B) * f), A: c.A}
}

// onTop returns the text colour that has more contrast on c: black and white
// are equally far from a relative luminance of 0.179.
func onTop(c color.RGBA) color.RGBA {
	linear := func(v uint8) float64 { return math.Pow(float64(v)/255, 2.2) }
	if 0.2126*linear(c.R)+0.7152*linear(c.G)+0.0722*linear(c.B) > 0.179 {
		return black
	}
	return white
}
