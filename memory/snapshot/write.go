package snapshot

import (
	"fmt"
	"io"
	"math"

	"trainsim/memory"
)

// displayBase is where cudaMalloc segments begin in a written snapshot: an
// address that the viewer's floating-point numbers hold exactly.
const displayBase = int64(1) << 52

// display maps a simulated address to the one in a written snapshot.
func display(addr int64) int64 {
	if addr >= memory.SegmentBase {
		return addr - memory.SegmentBase + displayBase
	}
	return addr
}

// WritePickle writes a snapshot as a pickle that pytorch.org/memory_viz and
// torch.cuda._memory_viz read. Simulated blocks carry their kind as the name
// of their only stack frame.
func WritePickle(w io.Writer, s *memory.Snapshot) error {
	p := newPickler(w)
	p.dict(func() {
		p.text("segments")
		p.list(len(s.Segments), func(i int) { p.segment(&s.Segments[i]) })
		p.text("device_traces")
		p.list(len(s.Traces), func(d int) {
			p.list(len(s.Traces[d]), func(i int) { p.entry(&s.Traces[d][i]) })
		})
		p.text("allocator_settings")
		p.settings(s.Conf)
	})
	return p.close()
}

func (p *pickler) segment(s *memory.Segment) {
	var allocated, active, requested int64
	for _, b := range s.Blocks {
		if b.State == memory.Allocated {
			allocated += b.Size
		}
		if b.State != memory.Inactive {
			active += b.Size
			requested += b.Requested
		}
	}
	p.dict(func() {
		p.field("device", int64(s.Device))
		p.field("address", display(s.Addr))
		p.field("total_size", s.Size)
		p.field("allocated_size", allocated)
		p.field("active_size", active)
		p.field("requested_size", requested)
		p.field("stream", s.Stream)
		p.text("segment_type")
		p.text(map[bool]string{true: "small", false: "large"}[s.Small])
		p.text("segment_pool_id")
		p.integer(0)
		p.integer(s.Pool)
		p.w.WriteByte(opTuple2)
		p.text("is_expandable")
		p.boolean(s.Expandable)
		p.text("frames")
		p.list(0, nil)
		p.text("blocks")
		p.list(len(s.Blocks), func(i int) { p.block(&s.Blocks[i]) })
	})
}

func (p *pickler) block(b *memory.Block) {
	p.dict(func() {
		p.field("address", display(b.Addr))
		p.field("size", b.Size)
		p.field("requested_size", b.Requested)
		p.text("state")
		p.text(b.State.String())
		p.frames(b.Kind, b.State != memory.Inactive)
	})
}

func (p *pickler) entry(e *memory.TraceEntry) {
	p.dict(func() {
		p.text("action")
		p.text(e.Action.String())
		if e.Action == memory.ActionOOM {
			p.field("device_free", e.Addr)
		} else {
			p.field("addr", display(e.Addr))
		}
		p.field("size", e.Size)
		p.field("stream", e.Stream)
		p.field("time_us", e.Time)
		ofBlock := e.Action <= memory.ActionFreeCompleted || e.Action == memory.ActionOOM
		p.frames(e.Kind, ofBlock)
	})
}

// frames writes the stack of a block: its kind, if it has one.
func (p *pickler) frames(k memory.Kind, ofBlock bool) {
	p.text("frames")
	if !ofBlock || int(k) >= memory.NumKinds {
		p.list(0, nil)
		return
	}
	p.list(1, func(int) {
		p.dict(func() {
			p.text("name")
			p.text(k.String())
			p.text("filename")
			p.text("trainsim")
			p.field("line", 0)
		})
	})
}

// settings writes the settings under the keys of torch.cuda.memory._snapshot.
func (p *pickler) settings(c memory.Conf) {
	p.dict(func() {
		p.text("PYTORCH_CUDA_ALLOC_CONF")
		p.text(c.String())
		split := c.MaxSplitSize
		if split == math.MaxInt64 {
			split = -1
		}
		p.field("max_split_size", split)
		p.text("garbage_collection_threshold")
		p.float(c.GCThreshold)
		p.text("expandable_segments")
		p.boolean(c.Expandable)
		p.field("pinned_num_register_threads", 1)
		p.text("release_lock_on_cudamalloc")
		p.boolean(false)
		p.text("pinned_use_cuda_host_register")
		p.boolean(false)
		p.text("roundup_power2_divisions")
		p.dict(func() {
			for i, d := range c.Divisions {
				p.field(fmt.Sprint(1<<i), d)
			}
		})
	})
}
