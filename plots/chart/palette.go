package chart

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg/draw"

	"trainsim/sim/trace"
)

// Okabe and Ito's colours, https://jfly.uni-koeln.de/color/, and five more
// that keep their distance from them in normal, protan, deutan and tritan vision.
// Their yellow stands in package trace, with the other dimensions' colours.
var (
	Blue       = rgb(0x0072B2)
	Orange     = rgb(0xE69F00)
	Green      = rgb(0x009E73)
	Sky        = rgb(0x56B4E9)
	Purple     = rgb(0xCC79A7)
	Vermillion = rgb(0xD55E00)
	black      = rgb(0x000000)
	brown      = rgb(0x804020)
	violet     = rgb(0x8000E0)
	graphite   = rgb(0x585858)
	leaf       = rgb(0x90C070)
	IdleGrey   = rgb(0xE6E6E6)

	White    = rgb(0xFFFFFF)
	Ink      = rgb(0x222222) // text and axes
	SoftInk  = rgb(0x555555) // subtitles
	GridGrey = rgb(0xDDDDDD)
	Slate    = rgb(0x4C6A8A) // links, bars that are of no kind

	CapacityColor = black // of the line at a GPU's memory
)

// Style is how one thing looks in every figure.
type Style struct {
	Label string
	Color color.RGBA
}

// KindStyles is the one table of colours of spans; those of communication are in
// package trace's table of dimensions. Parts of a backward pass are the
// backward's colour and green; a memory kind below has the colour of the work
// that makes it.
var KindStyles = withDimensions([trace.NumKinds]Style{
	trace.Forward:        {"forward", Blue},
	trace.Backward:       {"backward", Orange},
	trace.BackwardInput:  {"backward, input", Orange},
	trace.BackwardWeight: {"backward, weights", Green},
	trace.Recompute:      {"recomputation", Sky},
	trace.Optimizer:      {"optimizer", Purple},
	trace.HostWait:       {"waiting for the CPU", graphite},
	trace.Bubble:         {"bubble (idle)", IdleGrey},
	trace.Evaluation:     {"evaluation", leaf},
})

func withDimensions(styles [trace.NumKinds]Style) [trace.NumKinds]Style {
	for d := range trace.NumDimensions {
		styles[d.Kind()] = Style{d.Name() + " comm.", rgb(d.Color())}
	}
	return styles
}

// MemoryStyle is one kind of memory, by its name in recordings and reports.
type MemoryStyle struct {
	name string
	Style
}

// MemoryStyles is the one table of colours of memory, in the order in which
// the kinds are stacked: what lies outside the allocator first, then what
// stays, then what comes and goes.
var MemoryStyles = []MemoryStyle{
	{"context", Style{"CUDA context", graphite}},
	{"comm_buffers", Style{"communication buffers", Vermillion}},
	{"weights", Style{"weights", Green}},
	{"gradients", Style{"gradients", Orange}},
	{"optimizer", Style{"optimizer state", Purple}},
	{"activations", Style{"activations", Blue}},
	{"temporaries", Style{"temporaries", Sky}},
}

// OtherMemory is how memory of a kind that has no name looks.
var OtherMemory = Style{"other", IdleGrey}

// KindColor returns the colour of a kind of span in every figure.
func KindColor(k trace.Kind) color.RGBA {
	if k < trace.NumKinds {
		return KindStyles[k].Color
	}
	return Slate
}

// MemoryColor returns the colour of a kind of memory ("weights", "gradients",
// "optimizer", "activations", "temporaries", "comm_buffers", "context"); every
// other name has one grey.
func MemoryColor(name string) color.RGBA {
	if i := MemoryIndex(name); i < len(MemoryStyles) {
		return MemoryStyles[i].Color
	}
	return OtherMemory.Color
}

// MemoryIndex returns the name's place in MemoryStyles, or their number for
// another name.
func MemoryIndex(name string) int {
	for i, m := range MemoryStyles {
		if m.name == name {
			return i
		}
	}
	return len(MemoryStyles)
}

// series are the colours of families that no table names, in their order.
var series = []color.RGBA{Blue, Vermillion, Green, Purple, Orange, black, Sky, brown, violet, graphite}

// shapes tell more series apart than there are colours.
var shapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{},
	draw.PlusGlyph{}}

// SeriesColor returns the colour of the i-th series; they come round again.
func SeriesColor(i int) color.RGBA { return series[i%len(series)] }

// SeriesStyle returns the colour and shape of the i-th series.
func SeriesStyle(i int) (color.RGBA, draw.GlyphDrawer) {
	return SeriesColor(i), shapes[i/len(series)%len(shapes)]
}

func rgb(hex uint32) color.RGBA {
	return color.RGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 255}
}

// Darken returns c with its channels scaled by f.
func Darken(c color.RGBA, f float64) color.RGBA {
	return color.RGBA{R: uint8(float64(c.R) * f), G: uint8(float64(c.G) * f), B: uint8(float64(c.B) * f), A: c.A}
}

// OnTop returns the text colour that has more contrast on c: black and white
// are equally far from a relative luminance of 0.179.
func OnTop(c color.RGBA) color.RGBA {
	linear := func(v uint8) float64 { return math.Pow(float64(v)/255, 2.2) }
	if 0.2126*linear(c.R)+0.7152*linear(c.G)+0.0722*linear(c.B) > 0.179 {
		return black
	}
	return White
}
