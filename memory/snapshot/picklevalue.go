package snapshot

import "trainsim/memory"

// tag is the kind of a value on the stack of a pickle.
type tag uint8

const (
	tagNothing tag = iota // the instruction pushes no plain value
	tagOther              // a value of which only its existence matters
	tagBool
	tagInt
	tagWord // a known string, by its index
	tagText // any other string
	tagPair // a tuple of two integers, of which the second is kept
	tagList
	tagDict
)

// value is a value on the stack.
type value struct {
	tag tag
	n   int64
	ref any // string, *listNode or *dictNode
}

// listNode holds what matters of a list: elements that are trace entries,
// blocks or segments, and lists.
type listNode struct {
	entries  []memory.TraceEntry
	blocks   []memory.Block
	segments []memory.Segment
	lists    []*listNode
}

// dictNode holds what matters of a dictionary: the fields with known names.
type dictNode struct {
	fields []field
	kept   bool // referred to from more than one place
}

type field struct {
	key word
	v   value
}

// word is a string that has a meaning in a snapshot.
type word uint8

// The words, in the order of wordNames.
const (
	wSegments word = iota
	wDeviceTraces
	wSettings
	wDevice
	wAddress
	wTotalSize
	wStream
	wSegmentType
	wPoolID
	wExpandable
	wBlocks
	wSize
	wRequestedSize
	wState
	wAction
	wAddr
	wDeviceFree
	wTime
	wConf
	wExpandableSegments
	wSmall // from here on the words are values
)

var wordNames = func() []string {
	names := []string{
		"segments", "device_traces", "allocator_settings", "device", "address", "total_size", "stream", "segment_type",
		"segment_pool_id", "is_expandable", "blocks", "size", "requested_size", "state", "action", "addr",
		"device_free", "time_us", "PYTORCH_CUDA_ALLOC_CONF", "expandable_segments",
		"small", "inactive", "active_allocated", "active_pending_free", "active_awaiting_free", "free",
	}
	for action := memory.ActionAlloc; action <= memory.ActionOther; action++ {
		names = append(names, action.String())
	}
	return names
}()

var wordIndex = func() map[string]word {
	m := make(map[string]word, len(wordNames))
	for i, name := range wordNames {
		m[name] = word(i)
	}
	return m
}()

// get returns the value of a field.
func (d *dictNode) get(key word) (value, bool) {
	for i := range d.fields {
		if d.fields[i].key == key {
			return d.fields[i].v, true
		}
	}
	return value{}, false
}

// set stores a field.
func (d *dictNode) set(key word, v value) {
	for i := range d.fields {
		if d.fields[i].key == key {
			d.fields[i].v = v
			return
		}
	}
	d.fields = append(d.fields, field{key, v})
}

func (d *dictNode) integer(key word) (int64, bool) {
	v, ok := d.get(key)
	return v.n, ok && (v.tag == tagInt || v.tag == tagBool || v.tag == tagPair)
}

func (d *dictNode) number(key word) int64 {
	n, _ := d.integer(key)
	return n
}

// text returns a field that is a string, "" when it is something else.
func (d *dictNode) text(key word) string {
	v, _ := d.get(key)
	switch v.tag {
	case tagWord:
		return wordNames[v.n]
	case tagText:
		return v.ref.(string)
	}
	return ""
}

func (d *dictNode) list(key word) *listNode {
	v, _ := d.get(key)
	l, _ := v.ref.(*listNode)
	return l
}

// entry reads the dictionary as a trace entry.
func (d *dictNode) entry() (memory.TraceEntry, bool) {
	size, hasSize := d.integer(wSize)
	addr, hasAddr := d.integer(wAddr)
	if !hasAddr {
		addr, hasAddr = d.integer(wDeviceFree)
	}
	_, hasAction := d.get(wAction)
	e := memory.TraceEntry{Addr: addr, Size: size, Stream: d.number(wStream), Time: d.number(wTime),
		Kind: memory.Unknown}
	e.Action.UnmarshalText([]byte(d.text(wAction)))
	return e, hasSize && hasAddr && hasAction
}

// block reads the dictionary as a block of a segment.
func (d *dictNode) block() (memory.Block, bool) {
	size, hasSize := d.integer(wSize)
	_, hasState := d.get(wState)
	b := memory.Block{Addr: d.number(wAddress), Size: size, State: blockState(d.text(wState)), Kind: memory.Unknown}
	if b.State != memory.Inactive {
		b.Requested = d.number(wRequestedSize)
	}
	return b, hasSize && hasState
}

func blockState(name string) memory.BlockState {
	switch name {
	case "active_allocated":
		return memory.Allocated
	case "active_pending_free", "active_awaiting_free":
		return memory.PendingFree
	}
	return memory.Inactive
}

// segment reads the dictionary as a segment.
func (d *dictNode) segment() (memory.Segment, bool) {
	blocks := d.list(wBlocks)
	addr, hasAddr := d.integer(wAddress)
	size, hasSize := d.integer(wTotalSize)
	if blocks == nil || !hasAddr || !hasSize {
		return memory.Segment{}, false
	}
	return memory.Segment{
		Device: int(d.number(wDevice)), Addr: addr, Size: size, Stream: d.number(wStream),
		Small: d.text(wSegmentType) == "small", Expandable: d.number(wExpandable) != 0,
		Pool: d.number(wPoolID), Blocks: blocks.blocks,
	}, true
}
