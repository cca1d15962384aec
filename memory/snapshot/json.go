package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"trainsim/memory"
	"trainsim/sim/input"
)

// jsonInt is an integer as tools write it into JSON: a number, a float that
// is whole, or a string such as "0x7f00".
type jsonInt struct {
	n   int64
	set bool
}

// UnmarshalJSON reads the number; what 64 bits cannot hold is an error.
func (x *jsonInt) UnmarshalJSON(text []byte) error {
	s := string(text)
	if s == "null" {
		return nil
	}
	if n := len(s); n >= 2 && s[0] == '"' {
		s = s[1 : n-1]
	}
	x.set = true
	var err error
	if x.n, err = strconv.ParseInt(s, 0, 64); err == nil {
		return nil
	}
	if u, err := strconv.ParseUint(s, 0, 64); err == nil {
		x.n = int64(u)
		return nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.Abs(f) >= math.MaxInt64 || f != math.Trunc(f) {
		return fmt.Errorf("%s is not a whole number of 64 bits", input.Clip(string(text)))
	}
	x.n = int64(f)
	return nil
}

type jsonEntry struct {
	Action     memory.Action `json:"action"`
	Addr       jsonInt       `json:"addr"`
	DeviceFree jsonInt       `json:"device_free"`
	Size       jsonInt       `json:"size"`
	Stream     jsonInt       `json:"stream"`
	Time       jsonInt       `json:"time_us"`
}

func (e *jsonEntry) entry() memory.TraceEntry {
	addr := e.Addr.n
	if !e.Addr.set {
		addr = e.DeviceFree.n
	}
	return memory.TraceEntry{Addr: addr, Size: e.Size.n, Stream: e.Stream.n, Time: e.Time.n, Action: e.Action,
		Kind: memory.Unknown}
}

type jsonBlock struct {
	Addr      jsonInt `json:"address"`
	Size      jsonInt `json:"size"`
	Requested jsonInt `json:"requested_size"`
	State     string  `json:"state"`
}

func (b *jsonBlock) block() memory.Block {
	x := memory.Block{Addr: b.Addr.n, Size: b.Size.n, State: blockState(b.State), Kind: memory.Unknown}
	if x.State != memory.Inactive {
		x.Requested = b.Requested.n
	}
	return x
}

type jsonSegment struct {
	Device     jsonInt     `json:"device"`
	Addr       jsonInt     `json:"address"`
	Size       jsonInt     `json:"total_size"`
	Stream     jsonInt     `json:"stream"`
	Type       string      `json:"segment_type"`
	Pool       []jsonInt   `json:"segment_pool_id"`
	Expandable bool        `json:"is_expandable"`
	Blocks     []jsonBlock `json:"blocks"`
}

func (s *jsonSegment) segment() memory.Segment {
	x := memory.Segment{
		Device: int(s.Device.n), Addr: s.Addr.n, Size: s.Size.n, Stream: s.Stream.n,
		Small: s.Type == "small", Expandable: s.Expandable, Blocks: make([]memory.Block, len(s.Blocks)),
	}
	for i := range s.Blocks {
		x.Blocks[i] = s.Blocks[i].block()
	}
	if len(s.Pool) == 2 {
		x.Pool = s.Pool[0].n<<32 | s.Pool[1].n
	}
	return x
}

type jsonSettings struct {
	Conf       string `json:"PYTORCH_CUDA_ALLOC_CONF"`
	Expandable bool   `json:"expandable_segments"`
}

// jsonFile is what a JSON file turned out to hold: a snapshot, or recorded
// operations in the form of the test vectors.
type jsonFile struct {
	snapshot memory.Snapshot
	found    bool // a key of a snapshot was there
	scripts  []script
	single   script // the fields of a file that is one record
	kept     limits
}

// readJSON decodes a snapshot that was written as JSON, or vectors. Entries
// are decoded one by one, so that a long trace needs little more memory than
// its entries.
func readJSON(r io.Reader) (*jsonFile, error) {
	d := json.NewDecoder(r)
	f := &jsonFile{snapshot: memory.Snapshot{Conf: memory.DefaultConf()}}
	err := f.top(d)
	if err == nil {
		if _, e := d.Token(); e != io.EOF {
			err = errors.New("more than one JSON value; write one snapshot in a file")
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the file ends in the middle; copy it again or take a new snapshot")
	}
	if err != nil {
		return nil, fmt.Errorf("JSON, byte %d: %w", d.InputOffset(), err)
	}
	if f.single.Ops != nil {
		f.scripts = append(f.scripts, f.single)
	}
	if !f.found && f.scripts == nil {
		return nil, errNoSnapshot
	}
	return f, check(&f.snapshot)
}

// top reads the outermost value: a snapshot or a record, or a list of
// segments or of records.
func (f *jsonFile) top(d *json.Decoder) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	switch t {
	case json.Delim('{'):
		return eachKey(d, func(key string) error { return f.key(d, key) })
	case json.Delim('['):
		return eachElement(d, func(int) error { return f.element(d) })
	}
	return errNoSnapshot
}

func (f *jsonFile) key(d *json.Decoder, key string) error {
	switch key {
	case "segments":
		f.found = true
		return inList(d, func(int) error { return f.segment(d) })
	case "device_traces":
		f.found = true
		return inList(d, func(device int) error { return f.trace(d, device) })
	case "allocator_settings":
		var s jsonSettings
		err := d.Decode(&s)
		f.snapshot.Conf = recordedConf(s.Conf, s.Expandable)
		return err
	case "worked", "random", "vectors":
		return inList(d, func(int) error { return f.script(d) })
	case "ops":
		return f.operations(d)
	}
	if to, ok := f.single.field(key); ok {
		return d.Decode(to)
	}
	return skipValue(d)
}

func (f *jsonFile) segment(d *json.Decoder) error {
	var s jsonSegment
	if err := d.Decode(&s); err != nil {
		return err
	}
	f.snapshot.Segments = append(f.snapshot.Segments, s.segment())
	f.kept.segments++
	f.kept.blocks += len(s.Blocks)
	return f.kept.check()
}

func (f *jsonFile) trace(d *json.Decoder, device int) error {
	if device >= maxDevices {
		return fmt.Errorf("traces of more than %d devices", maxDevices)
	}
	var entries []memory.TraceEntry
	err := inList(d, func(int) error {
		var e jsonEntry
		if err := d.Decode(&e); err != nil {
			return err
		}
		entries = append(entries, e.entry())
		f.kept.entries++
		return f.kept.check()
	})
	f.snapshot.Traces = append(f.snapshot.Traces, entries)
	return err
}

func (f *jsonFile) script(d *json.Decoder) error {
	var s script
	if err := d.Decode(&s); err != nil {
		return err
	}
	f.scripts = append(f.scripts, s)
	f.kept.entries += len(s.Ops)
	return f.kept.check()
}

// operations reads the operations of a file that is one record. A file of
// many records may explain its operations under the same key.
func (f *jsonFile) operations(d *json.Decoder) error {
	t, err := d.Token()
	switch {
	case err != nil:
		return err
	case t == json.Delim('{'):
		return eachKey(d, func(string) error { return skipValue(d) })
	case t != json.Delim('['):
		return fmt.Errorf("found %v where a list should be", t)
	}
	f.single.Ops = []op{}
	return eachElement(d, func(int) error {
		var o op
		if err := d.Decode(&o); err != nil {
			return err
		}
		f.single.Ops = append(f.single.Ops, o)
		f.kept.entries++
		return f.kept.check()
	})
}

// element reads one value of a list at the top: a segment, as
// torch.cuda.memory_snapshot returns them, or a record of operations.
func (f *jsonFile) element(d *json.Decoder) error {
	var e struct {
		jsonSegment
		script
	}
	if err := d.Decode(&e); err != nil {
		return err
	}
	if e.script.Ops != nil {
		f.scripts = append(f.scripts, e.script)
		f.kept.entries += len(e.script.Ops)
		return f.kept.check()
	}
	if !e.jsonSegment.Size.set {
		return errNoSnapshot
	}
	f.found = true
	f.snapshot.Segments = append(f.snapshot.Segments, e.jsonSegment.segment())
	f.kept.segments++
	f.kept.blocks += len(e.Blocks)
	return f.kept.check()
}

// inList reads a list whose opening bracket comes next; null is an empty one.
func inList(d *json.Decoder, each func(i int) error) error {
	t, err := d.Token()
	if err != nil || t == nil {
		return err
	}
	if t != json.Delim('[') {
		return fmt.Errorf("found %v where a list should be", t)
	}
	return eachElement(d, each)
}

func eachElement(d *json.Decoder, each func(i int) error) error {
	for i := 0; d.More(); i++ {
		if err := each(i); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

func eachKey(d *json.Decoder, each func(key string) error) error {
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		if err := each(key); err != nil {
			return fmt.Errorf("%s: %w", input.Clip(key), err)
		}
	}
	_, err := d.Token()
	return err
}

// skipValue reads over a value without keeping it.
func skipValue(d *json.Decoder) error {
	for depth := 0; ; {
		t, err := d.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('['), json.Delim('{'):
			depth++
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}
