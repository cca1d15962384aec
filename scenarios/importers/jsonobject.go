package importers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"trainsim/scenarios/keys"
	"trainsim/sim/input"
)

// object is a JSON object of a file: its fields with their places. What is wrong
// with them goes to out.
type object struct {
	src    *input.Source
	out    *input.Problems
	what   string // which file it should be, as in "the config.json of a Hugging Face model"
	prefix string // of field names, for an object inside another one
	fields map[string]field
}

type field struct {
	raw json.RawMessage
	at  input.Span
}

// read reads the fields of a JSON object that begins at an offset of the source;
// nil where it is none.
func (o *object) read(text []byte, base int) map[string]field {
	d := json.NewDecoder(bytes.NewReader(text))
	fields := map[string]field{}
	t, err := d.Token()
	if err == nil && t != json.Delim('{') {
		o.out.Add(o.src.Span(base, base), "", "is not a JSON object; write %s", o.what)
		return nil
	}
	for err == nil && d.More() {
		var key json.Token
		if key, err = d.Token(); err != nil {
			break
		}
		end := base + int(d.InputOffset())
		var f field
		if err = d.Decode(&f.raw); err == nil {
			name := fmt.Sprint(key)
			f.at = o.src.Span(max(end-len(name)-2, base), end)
			fields[name] = f
		}
	}
	if err == nil {
		_, err = d.Token()
	}
	if rest := text[d.InputOffset():]; err == nil && len(bytes.TrimSpace(rest)) > 0 {
		at := base + len(text) - len(bytes.TrimLeft(rest, " \t\r\n"))
		o.out.Add(o.src.Span(at, at), "", "more stands behind the JSON object; write %s alone", o.what)
		return nil
	}
	if err != nil {
		at := base + int(d.InputOffset())
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at = base + max(int(syntax.Offset)-1, 0)
		}
		o.out.Add(o.src.Span(at, at), "", "is not JSON: %v; write %s", err, o.what)
		return nil
	}
	return fields
}

// fail reports a field.
func (o *object) fail(field, format string, args ...any) {
	at := o.src.Span(0, 0)
	if f, ok := o.fields[field]; ok {
		at = f.at
	}
	o.out.Add(at, o.prefix+field, format, args...)
}

// has returns the first of the names that the config gives a value.
func (o *object) has(names ...string) (string, bool) {
	for _, n := range names {
		if f, ok := o.fields[n]; ok && string(f.raw) != "null" {
			return n, true
		}
	}
	return names[0], false
}

// count returns a whole number from the first of the names that is there; key
// is the key of [model] that it becomes. A missing one is an error.
func (o *object) count(key string, names ...string) int64 {
	name, ok := o.has(names...)
	if !ok {
		o.fail(name, "is missing; it is needed for %s", key)
		return 0
	}
	return o.number(key, name)
}

// countOr is count with a value for a missing field.
func (o *object) countOr(def int64, key string, names ...string) int64 {
	if name, ok := o.has(names...); ok {
		return o.number(key, name)
	}
	return def
}

func (o *object) number(key, name string) int64 {
	raw := string(o.fields[name].raw)
	k, _ := keys.Find("model." + key)
	x, err := strconv.ParseFloat(raw, 64)
	switch {
	case err != nil:
		o.fail(name, "%s is not a number", input.Clip(raw))
	case x != math.Trunc(x):
		o.fail(name, "%s is not a whole number", input.Clip(raw))
	case x < 1 || x > k.Max:
		o.fail(name, "%s is out of range; it becomes %s, a number from 1 to %s", input.Clip(raw), key,
			strconv.FormatFloat(k.Max, 'f', -1, 64))
	default:
		return int64(x)
	}
	return 0
}

// flag returns a boolean field, def when it is missing.
func (o *object) flag(name string, def bool) bool {
	if _, ok := o.has(name); !ok {
		return def
	}
	switch string(o.fields[name].raw) {
	case "true":
		return true
	case "false":
		return false
	}
	o.fail(name, "%s is not true or false", input.Clip(string(o.fields[name].raw)))
	return def
}

// word returns a string field, def when it is missing.
func (o *object) word(def string, names ...string) string {
	name, ok := o.has(names...)
	if !ok {
		return def
	}
	var s string
	if json.Unmarshal(o.fields[name].raw, &s) != nil {
		o.fail(name, "%s is not a string", input.Clip(string(o.fields[name].raw)))
		return def
	}
	return s
}

// want reports a flag that must have a value for the model to be expressible.
func (o *object) want(name string, value, def bool, why string) {
	if o.flag(name, def) != value {
		o.fail(name, "%v is not modelled: %s", !value, why)
	}
}

// offsetOfValue finds where the value of a field begins.
func (o *object) offsetOfValue(f field) int {
	if i := bytes.Index(o.src.Text[f.at.End:], f.raw); i >= 0 {
		return f.at.End + i
	}
	return f.at.End
}
