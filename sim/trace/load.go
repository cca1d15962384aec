package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"trainsim/sim/input"
)

// ReadSaved reads what WriteSaved wrote: it checks the schema, decodes the
// report into report (a pointer) and returns the recording. Other keys are
// ignored. What is malformed, out of range or beyond the limits of a saved run
// is an error, however large the input is; anything behind the document is an
// [*input.Problem] with its line.
func ReadSaved(rd io.Reader, schema string, report any) (*Recording, error) {
	d := newDecoder(rd)
	var rec *Recording
	found := map[string]bool{}
	err := d.object(func(key string) error {
		found[key] = true
		switch key {
		case "schema":
			return d.schema(schema)
		case "report":
			return d.value(report)
		case "recording":
			var err error
			rec, err = d.recording()
			return err
		}
		return d.value(new(json.RawMessage))
	})
	for _, key := range []string{"schema", "report", "recording"} {
		if err == nil && !found[key] {
			err = fmt.Errorf("it has no %q; a saved run has schema, report and recording", key)
		}
	}
	if err == nil {
		err = d.end()
	}
	if err != nil {
		return nil, fmt.Errorf("trace: not a saved run: %w", err)
	}
	return rec, nil
}

// decoder walks a document value by value. The reader under it gives at most
// maxValue bytes a value, so that one endless value cannot fill the memory.
type decoder struct {
	*json.Decoder
	limit *valueReader
}

type valueReader struct {
	r     io.Reader
	left  int
	lines int // ends of lines so far
}

var errValue = fmt.Errorf("one value is longer than %d MiB", maxValue>>20)

func (v *valueReader) Read(p []byte) (int, error) {
	if v.left <= 0 {
		return 0, errValue
	}
	n, err := v.r.Read(p[:min(len(p), v.left)])
	v.left -= n
	v.lines += bytes.Count(p[:n], []byte("\n"))
	return n, err
}

func newDecoder(rd io.Reader) *decoder {
	limit := &valueReader{r: rd, left: maxValue}
	return &decoder{Decoder: json.NewDecoder(limit), limit: limit}
}

func (d *decoder) value(into any) error {
	d.limit.left = maxValue
	return d.Decode(into)
}

func (d *decoder) token() (json.Token, error) {
	d.limit.left = maxValue
	t, err := d.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return t, err
}

func (d *decoder) delim(want json.Delim) error {
	t, err := d.token()
	if err == nil && t != want {
		err = fmt.Errorf("at byte %d: expected %q", d.InputOffset(), want.String())
	}
	return err
}

// end refuses anything but blanks behind the document.
func (d *decoder) end() error {
	d.limit.left = maxValue
	_, err := d.Token()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case errors.Is(err, errValue):
		return err
	}
	ahead, err := io.ReadAll(d.Buffered())
	if err != nil {
		return err
	}
	line := 1 + d.limit.lines - bytes.Count(ahead, []byte("\n"))
	return &input.Problem{Line: line, Text: "more stands behind the document; write one run in a file"}
}

func (d *decoder) schema(want string) error {
	var got string
	if err := d.value(&got); err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("its schema is %.60q; this version reads %q", got, want)
	}
	return nil
}

// object calls member for each key; member has to read the value.
func (d *decoder) object(member func(key string) error) error {
	if err := d.delim('{'); err != nil {
		return err
	}
	for d.More() {
		t, err := d.token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		if err := member(key); err != nil {
			return fmt.Errorf("%.40s: %w", key, err)
		}
	}
	return d.delim('}')
}

// array calls element until the array ends; element has to read one value.
func (d *decoder) array(element func() error) error {
	if err := d.delim('['); err != nil {
		return err
	}
	for d.More() {
		if err := element(); err != nil {
			return err
		}
	}
	return d.delim(']')
}

func (d *decoder) recording() (*Recording, error) {
	r := &Recording{}
	var kinds []string
	err := d.object(func(key string) error {
		switch key {
		case "kinds":
			return d.value(&kinds)
		case "lanes":
			return elements(d, &r.Lanes)
		case "names":
			return d.names(r)
		case "counters":
			return elements(d, &r.Counters)
		case "blocks":
			return d.value(&r.Blocks)
		case "spans":
			return d.array(func() error { return d.spanBlock(r) })
		case "samples":
			return d.array(func() error { return d.sampleBlock(r) })
		}
		return errors.New("unknown key in a recording")
	})
	if err != nil {
		return nil, err
	}
	if err := r.renumber(kinds); err != nil {
		return nil, err
	}
	r.index()
	return r, r.check()
}

// elements reads an array one element at a time, so that a short text cannot
// become a large slice.
func elements[T any](d *decoder, into *[]T) error {
	return d.array(func() error {
		var v T
		if err := d.value(&v); err != nil {
			return err
		}
		if len(*into) == maxLanes {
			return errLanes
		}
		*into = append(*into, v)
		return nil
	})
}

func (d *decoder) names(r *Recording) error {
	bytes := 0
	return d.array(func() error {
		var n string
		if err := d.value(&n); err != nil {
			return err
		}
		if bytes += len(n); bytes > maxNameBytes || len(r.Names) == maxLanes {
			return fmt.Errorf("more than %d names, or names of more than %d MiB", maxLanes, maxNameBytes>>20)
		}
		r.Names = append(r.Names, n)
		return nil
	})
}

func (d *decoder) spanBlock(r *Recording) error {
	block, err := readBlock(d, spanColumns)
	if err != nil {
		return err
	}
	if r.Len()+len(block) > MaxSpans {
		return fmt.Errorf("more than %d spans", MaxSpans)
	}
	for _, s := range block {
		r.Add(s)
	}
	return nil
}

func (d *decoder) sampleBlock(r *Recording) error {
	block, err := readBlock(d, sampleColumns)
	if err != nil {
		return err
	}
	if len(r.samples)+len(block) > MaxSamples {
		return fmt.Errorf("more than %d samples", MaxSamples)
	}
	r.samples = append(r.samples, block...)
	return nil
}

func readBlock[T any](d *decoder, columns []column[T]) ([]T, error) {
	var block map[string]ints
	if err := d.value(&block); err != nil {
		return nil, err
	}
	return rows(block, columns)
}

// renumber maps the kinds by the names that the file lists, so that a file
// keeps its meaning when kinds are added.
func (r *Recording) renumber(names []string) error {
	kinds := make([]Kind, len(names))
	same := true
	for i, n := range names {
		var err error
		if kinds[i], err = kindNamed(n); err != nil {
			return err
		}
		same = same && int(kinds[i]) == i
	}
	for s := range r.Spans {
		if int(s.Kind) >= len(kinds) {
			return fmt.Errorf("a span has kind %d of %d", s.Kind, len(kinds))
		}
		if !same {
			s.Kind = kinds[s.Kind]
		}
	}
	return nil
}

// index rebuilds what Name looks up, so that a recording can go on.
func (r *Recording) index() {
	r.names = make(map[string]uint32, len(r.Names))
	for i := len(r.Names) - 1; i >= 0; i-- {
		r.names[r.Names[i]] = uint32(i)
	}
}
