package snapshot

import (
	"errors"

	"trainsim/memory"
)

// snapshot reads the result of the pickle.
func (vm *pickleVM) snapshot(top value) (*memory.Snapshot, error) {
	switch ref := top.ref.(type) {
	case *dictNode:
		return snapshotOf(ref)
	case *listNode: // torch.cuda.memory_snapshot, or one trace
		s := &memory.Snapshot{Segments: ref.segments, Conf: memory.DefaultConf()}
		if len(ref.segments)+len(ref.entries) == 0 {
			return nil, errNoSnapshot
		}
		if len(ref.entries) > 0 {
			s.Traces = [][]memory.TraceEntry{ref.entries}
		}
		return s, check(s)
	}
	return nil, errNoSnapshot
}

var errNoSnapshot = errors.New("this is not a memory snapshot: it has neither segments nor device_traces; " +
	"write one with torch.cuda.memory._dump_snapshot")

func snapshotOf(d *dictNode) (*memory.Snapshot, error) {
	s := &memory.Snapshot{Conf: memory.DefaultConf()}
	segments, traces := d.list(wSegments), d.list(wDeviceTraces)
	if segments == nil && traces == nil {
		return nil, errNoSnapshot
	}
	if segments != nil {
		s.Segments = segments.segments
	}
	if traces != nil {
		for _, t := range traces.lists {
			s.Traces = append(s.Traces, t.entries)
		}
	}
	if v, ok := d.get(wSettings); ok {
		if settings, ok := v.ref.(*dictNode); ok {
			s.Conf = recordedConf(settings.text(wConf), settings.number(wExpandableSegments) != 0)
		}
	}
	return s, check(s)
}

// recordedConf reads the settings that a snapshot names. Text that this
// version cannot read leaves the defaults: the trace is worth replaying.
func recordedConf(text string, expandable bool) memory.Conf {
	c, err := memory.ParseConf(text)
	if err != nil {
		c = memory.DefaultConf()
	}
	c.Expandable = c.Expandable || expandable
	return c
}
