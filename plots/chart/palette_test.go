package chart

import (
	"fmt"
	"image/color"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/sim/trace"
)

// visions are the matrices of Machado, Oliveira and Fernandes (2009) at full
// severity, on linear RGB.
var visions = map[string][3][3]float64{
	"normal": {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protan": {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deutan": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritan": {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// lab converts a colour, as a kind of vision sees it, to CIE L*a*b* under D65.
func lab(c color.RGBA, vision [3][3]float64) [3]float64 {
	linear := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	in := [3]float64{linear(c.R), linear(c.G), linear(c.B)}
	var l [3]float64
	for i, row := range vision {
		l[i] = min(max(row[0]*in[0]+row[1]*in[1]+row[2]*in[2], 0), 1)
	}
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	x := f((0.4124564*l[0] + 0.3575761*l[1] + 0.1804375*l[2]) / 0.95047)
	y := f(0.2126729*l[0] + 0.7151522*l[1] + 0.0721750*l[2])
	z := f((0.0193339*l[0] + 0.1191920*l[1] + 0.9503041*l[2]) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// distance is CIE76.
func distance(a, b color.RGBA, vision [3][3]float64) float64 {
	p, q := lab(a, vision), lab(b, vision)
	return math.Sqrt((p[0]-q[0])*(p[0]-q[0]) + (p[1]-q[1])*(p[1]-q[1]) + (p[2]-q[2])*(p[2]-q[2]))
}

// Okabe and Ito's set keeps 16 under tritan vision; nothing that was added to
// it may be closer to another colour than that.
func TestColoursKeepTheirDistance(t *testing.T) {
	var kinds, memories []Style
	for k, s := range KindStyles {
		if trace.Kind(k) != trace.BackwardInput { // the backward's colour, on purpose
			kinds = append(kinds, s)
		}
	}
	for _, m := range MemoryStyles {
		memories = append(memories, m.Style)
	}
	memories = append(memories, OtherMemory)
	for name, vision := range visions {
		for _, table := range [][]Style{kinds, memories} {
			for i, a := range table {
				for _, b := range table[:i] {
					assert.Greater(t, distance(a.Color, b.Color, vision), 15.5, "%s vision: %s and %s", name, a.Label, b.Label)
				}
			}
		}
		for i, a := range series {
			for _, b := range series[:i] {
				assert.Greater(t, distance(a, b, vision), 15.5, "%s vision: series %v and %v", name, a, b)
			}
		}
	}
}

func TestOneTableOfColours(t *testing.T) {
	labels := map[string]bool{}
	for k := range trace.NumKinds {
		s := KindStyles[k]
		assert.NotEmpty(t, s.Label, k)
		assert.False(t, labels[s.Label], s.Label)
		labels[s.Label] = true
		assert.Equal(t, s.Color, KindColor(k))
	}
	for _, m := range MemoryStyles {
		assert.Equal(t, m.Color, MemoryColor(m.name))
	}
	assert.Equal(t, OtherMemory.Color, MemoryColor("kv_cache"))
	assert.Equal(t, Slate, KindColor(trace.NumKinds))
	assert.Equal(t, KindColor(trace.Optimizer), MemoryColor("optimizer"))
}

func TestTextIsReadableOnEveryColour(t *testing.T) {
	for _, s := range KindStyles {
		assert.Greater(t, contrast(s.Color, OnTop(s.Color)), 4.0, s.Label)
	}
}

// contrast is the ratio of the Web Content Accessibility Guidelines.
func contrast(a, b color.RGBA) float64 {
	y := func(c color.RGBA) float64 {
		l := lab(c, visions["normal"])[0]
		return math.Pow((l+16)/116, 3)
	}
	hi, lo := max(y(a), y(b)), min(y(a), y(b))
	return (hi + 0.05) / (lo + 0.05)
}

// Fifty families look different.
func TestSeriesStylesDiffer(t *testing.T) {
	seen := map[string]bool{}
	for i := range len(series) * len(shapes) {
		color, shape := SeriesStyle(i)
		seen[fmt.Sprintf("%v %T", color, shape)] = true
	}
	assert.Len(t, seen, 50)
}
