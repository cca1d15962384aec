package chart_test

import (
	"bytes"
	"fmt"

	"gonum.org/v1/plot/vg/draw"

	"trainsim/plots/chart"
)

// A figure is a page whose body draws on what the title and the legend leave.
func ExampleNew() {
	page := chart.Page{
		Title:  "one box",
		Legend: []chart.LegendEntry{{Label: "box", Color: chart.Blue}},
		Body: func(c draw.Canvas, t chart.Theme) {
			chart.FillRect(c, chart.Blue, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
		},
	}
	f, err := chart.New(chart.Options{Width: 640, Height: 360}, page)
	if err != nil {
		fmt.Println(err)
		return
	}
	var b bytes.Buffer
	fmt.Println(f.Encode(&b, "png"), b.Len() > 1000)
	// Output: <nil> true
}
