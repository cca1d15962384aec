package snapshot

import (
	"encoding/json"
	"fmt"

	"trainsim/memory"
	"trainsim/sim/input"
)

// script is a record in the form of the test vectors: operations on an
// allocator by name, with the device and the settings on which they ran.
type script struct {
	Name     string   `json:"name"`
	Config   string   `json:"config"`
	Total    int64    `json:"total"`
	Overhead int64    `json:"overhead"` // bytes of the device that others hold
	Fraction *float64 `json:"fraction"`
	Ops      []op     `json:"ops"`
}

// field returns where a record's field with this key goes, its operations
// aside.
func (s *script) field(key string) (to any, ok bool) {
	to, ok = map[string]any{
		"name": &s.Name, "config": &s.Config, "total": &s.Total,
		"overhead": &s.Overhead, "fraction": &s.Fraction,
	}[key]
	return to, ok
}

// opCode is the first element of an operation.
type opCode uint8

const (
	opMalloc        opCode = iota // ["a", id, bytes, stream]
	opMallocPrivate               // ["ap", id, bytes, stream, pool]
	opFree                        // ["f", id]
	opRecord                      // ["r", id, stream]
	opComplete                    // ["s", stream]
	opEmpty                       // ["e"]
	opAbandon                     // ["rp", pool]
	opConf                        // ["c", text]
	opFraction                    // ["fr", x]
)

// opForms gives the code and the number of arguments of each name.
var opForms = map[string]struct {
	code opCode
	args int
}{
	"a": {opMalloc, 3}, "ap": {opMallocPrivate, 4}, "f": {opFree, 1}, "r": {opRecord, 2}, "s": {opComplete, 1},
	"e": {opEmpty, 0}, "rp": {opAbandon, 1}, "c": {opConf, 1}, "fr": {opFraction, 1},
}

// op is an operation of a record.
type op struct {
	code opCode
	n    [4]int64 // the arguments that are integers
	text string   // of opConf
	x    float64  // of opFraction
}

// UnmarshalJSON reads ["a", 0, 1024, 0] and its like.
func (o *op) UnmarshalJSON(text []byte) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(text, &parts); err != nil {
		return err
	}
	var name string
	if len(parts) == 0 || json.Unmarshal(parts[0], &name) != nil {
		return fmt.Errorf("operation %s does not begin with its name", input.Clip(string(text)))
	}
	form, ok := opForms[name]
	if !ok {
		return fmt.Errorf("unknown operation %s; the operations are a, ap, f, r, s, e, rp, c and fr",
			input.Quote(name))
	}
	if len(parts)-1 != form.args {
		return fmt.Errorf("operation %q has %d arguments; it takes %d", name, len(parts)-1, form.args)
	}
	o.code = form.code
	for i, raw := range parts[1:] {
		if err := o.argument(i, raw); err != nil {
			return fmt.Errorf("operation %q: %w", name, err)
		}
	}
	return nil
}

func (o *op) argument(i int, raw json.RawMessage) error {
	switch o.code {
	case opConf:
		return json.Unmarshal(raw, &o.text)
	case opFraction:
		return json.Unmarshal(raw, &o.x)
	}
	return json.Unmarshal(raw, &o.n[i])
}

// recording checks the record and prepares it for replay.
func (s *script) recording(index int) (*Recording, error) {
	conf, err := memory.ParseConf(s.Config)
	if err != nil {
		return nil, fmt.Errorf("record %s: config: %w", input.Quote(s.Name), err)
	}
	r := &Recording{Name: s.Name, Conf: conf, total: s.Total, capacity: s.Total - s.Overhead, fraction: 1, ops: s.Ops}
	if r.Name == "" {
		r.Name = fmt.Sprintf("record %d", index)
	}
	if s.Fraction != nil {
		r.fraction = *s.Fraction
	}
	if s.Total < 0 || s.Overhead < 0 || s.Overhead > s.Total || !(r.fraction >= 0 && r.fraction <= 1) {
		return nil, fmt.Errorf("record %s: total %d, overhead %d, fraction %g are not possible", input.Quote(s.Name),
			s.Total, s.Overhead, r.fraction)
	}
	if s.Total > unlimited {
		return nil, fmt.Errorf("record %s: a device of %d bytes; at most 16 TiB are simulated", input.Quote(s.Name),
			s.Total)
	}
	for i := range s.Ops {
		if err := s.Ops[i].check(); err != nil {
			return nil, fmt.Errorf("%s, operation %d: %w", input.Clip(r.Name), i, err)
		}
	}
	return r, nil
}

// check refuses arguments that no allocator was ever given.
func (o *op) check() error {
	switch o.code {
	case opMalloc, opMallocPrivate:
		if o.n[1] < 0 {
			return fmt.Errorf("%d bytes are allocated; write a size of 0 or more", o.n[1])
		}
	case opConf:
		_, err := memory.ParseConf(o.text)
		return err
	case opFraction:
		if !(o.x >= 0 && o.x <= 1) {
			return fmt.Errorf("memory fraction %g; write a number from 0.0 to 1.0", o.x)
		}
	}
	return nil
}
