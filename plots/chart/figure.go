package chart

import (
	"fmt"
	"image/color"
	"image/png"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"codeberg.org/go-pdf/fpdf"
	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"trainsim/sim/output"
)

// dpi ties pixels to the points in which vg measures: 96 dots an inch.
const dpi = 96

// Dot is one pixel in points.
const Dot = vg.Inch / dpi

// Figure is a drawing of fixed size, ready to be saved.
type Figure struct {
	Width, Height vg.Length // in points
	page          Page
}

// Empty is the error of a figure for which there is no data: a run goes without
// it.
type Empty string

// Error returns the text.
func (e Empty) Error() string { return string(e) }

// New lays p out on a page of the size in o.
func New(o Options, p Page) (*Figure, error) {
	o, err := o.Resolve()
	if err != nil {
		return nil, err
	}
	return &Figure{Width: vg.Length(o.Width) * Dot, Height: vg.Length(o.Height) * Dot, page: p}, nil
}

// Draw draws the figure on c, which should have the figure's size.
func (f *Figure) Draw(c draw.Canvas) { f.page.draw(c) }

// Save writes the figure to path as its ending says: .png, .svg or .pdf. The
// file appears whole or not at all; an error names the path.
func (f *Figure) Save(path string) error {
	format := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	if err := checkFormat(format); err != nil {
		return fmt.Errorf("%w as the ending of %s", err, path)
	}
	if err := output.WriteFile(path, func(w io.Writer) error { return f.Encode(w, format) }); err != nil {
		return fmt.Errorf("plots: %w", err)
	}
	return nil
}

// Encode writes the figure to w as png, svg or pdf. The same figure gives the
// same bytes.
func (f *Figure) Encode(w io.Writer, format string) error {
	switch format {
	case "svg":
		c := vgsvg.New(f.Width, f.Height)
		f.Draw(draw.New(c))
		_, err := c.WriteTo(w)
		return err
	case "pdf":
		return f.encodePDF(w)
	case "png":
		c := vgimg.NewWith(vgimg.UseWH(f.Width, f.Height), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(color.White))
		f.Draw(draw.New(c))
		enc := png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: &pngBuffers}
		return enc.Encode(w, c.Image())
	}
	return checkFormat(format)
}

var datePDF sync.Once

// encodePDF fixes the dates that fpdf otherwise takes from the clock.
func (f *Figure) encodePDF(w io.Writer) error {
	datePDF.Do(func() {
		epoch := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
		fpdf.SetDefaultCreationDate(epoch)
		fpdf.SetDefaultModificationDate(epoch)
		fpdf.SetDefaultCatalogSort(true)
	})
	c := vgpdf.New(f.Width, f.Height)
	f.Draw(draw.New(boldPDF{c}))
	_, err := c.WriteTo(w)
	return err
}

// boldPDF gives a bold face a name of its own: vgpdf registers each face as the
// regular one of its name and then does not find the bold one.
type boldPDF struct{ *vgpdf.Canvas }

// FillString draws text as vgpdf does.
func (c boldPDF) FillString(f font.Face, pt vg.Point, text string) {
	if f.Font.Weight == xfont.WeightBold {
		f.Font.Weight = xfont.WeightNormal
		f.Font.Variant += "Bold"
	}
	c.Canvas.FillString(f, pt, text)
}

var pngBuffers pngPool

// pngPool lets the figures of a run share one encoder's buffers.
type pngPool struct{ pool sync.Pool }

// Get takes a buffer.
func (p *pngPool) Get() *png.EncoderBuffer {
	b, _ := p.pool.Get().(*png.EncoderBuffer)
	return b
}

// Put gives it back.
func (p *pngPool) Put(b *png.EncoderBuffer) { p.pool.Put(b) }
