package trace

import "trainsim/sim"

// Kind says what a span is. Every figure and every exporter uses the same
// colour and category for the same kind.
type Kind uint16

// Kinds of spans. The first group are actions of the schedule, the second are
// what a stream does in detail; between HostWait and Optimizer lies the
// communication of each [Dimension].
const (
	Forward Kind = iota
	Backward
	BackwardInput
	BackwardWeight
	Recompute
	Optimizer
	firstComm
)

// Kinds behind the communication.
const (
	HostWait   = firstComm + Kind(NumDimensions) + iota // the GPU waits for its CPU to launch the next kernel
	Bubble                                              // the stage waits for another stage
	Evaluation                                          // a forward behind the step
	NumKinds
)

var kindNames = func() (names [NumKinds]string) {
	copy(names[:], []string{"forward", "backward", "backward_input", "backward_weight", "recompute", "optimizer"})
	for d := range NumDimensions {
		names[d.Kind()] = d.String() + "_comm"
	}
	copy(names[HostWait:], []string{"host_wait", "bubble", "evaluation"})
	return names
}()

// String returns the kind's name in reports and traces.
func (k Kind) String() string {
	if k < NumKinds {
		return kindNames[k]
	}
	return "unknown"
}

// Stream is one row of a rank.
type Stream uint8

// Streams of a rank, in the order in which they are drawn; the last are those of
// the dimensions' communication.
const (
	Actions Stream = iota // the schedule's actions: F3, B0, optimizer
	Compute               // kernels, and the collectives that block them
	firstCommStream
	NumStreams = firstCommStream + Stream(NumDimensions)
)

var streamNames = func() (names [NumStreams]string) {
	copy(names[:], []string{"actions", "compute"})
	for d := range NumDimensions {
		names[d.Stream()] = d.String()
	}
	return names
}()

// String returns the stream's name in traces.
func (s Stream) String() string {
	if s < NumStreams {
		return streamNames[s]
	}
	return "unknown"
}

// Lane is one stream of one rank.
type Lane struct {
	Rank   int    `json:"rank"`
	Stage  int    `json:"stage"` // pipeline rank
	Stream Stream `json:"stream"`
}

// Span is one interval on a lane, recorded when it ends: 32 bytes, no pointer.
type Span struct {
	Start, End sim.Time
	Lane       int32
	Kind       Kind
	Chunk      uint16
	Name       uint32 // index into Recording.Names
	Microbatch int32  // -1 when the span belongs to none
}

// CounterKind says what a counter counts.
type CounterKind uint8

// Kinds of counters.
const (
	// MemoryByKind is allocated bytes of one rank and one memory kind (Sub).
	MemoryByKind CounterKind = iota
	// MemoryReserved is what the caching allocator of a rank holds.
	MemoryReserved
	// LinkRate is the load of a link in bytes a second.
	LinkRate
)

// Counter is a quantity that changes at instants.
type Counter struct {
	Kind  CounterKind `json:"kind"`
	Name  string      `json:"name"` // memory kind ("weights", ...) or link name
	Rank  int         `json:"rank"` // -1 for links
	Stage int         `json:"stage"`
	Limit float64     `json:"limit"` // capacity (bytes or bytes/s), 0 if none
}

// Sample says that a counter's value is Value from At on.
type Sample struct {
	At      sim.Time
	Counter int32
	Value   int64
}

// Recording holds what a run did, append only. The zero value is ready.
// It is write-only during a run; readers build the indexes that they need.
type Recording struct {
	Lanes    []Lane
	Names    []string
	Counters []Counter
	// Blocks is the fullest device's allocator at its peak, or where it ran out
	// of memory; nil if it was not recorded.
	Blocks  *Blocks
	chunks  [][]Span
	samples []Sample
	names   map[string]uint32
}

const chunkSpans = 8192

// AddLane registers a lane and returns its index.
func (r *Recording) AddLane(l Lane) int32 {
	r.Lanes = append(r.Lanes, l)
	return int32(len(r.Lanes) - 1)
}

// AddCounter registers a counter and returns its index.
func (r *Recording) AddCounter(c Counter) int32 {
	r.Counters = append(r.Counters, c)
	return int32(len(r.Counters) - 1)
}

// Name interns a span name and returns its index.
func (r *Recording) Name(s string) uint32 {
	if id, ok := r.names[s]; ok {
		return id
	}
	if r.names == nil {
		r.names = make(map[string]uint32)
	}
	id := uint32(len(r.Names))
	r.Names = append(r.Names, s)
	r.names[s] = id
	return id
}

// Add appends a finished span.
func (r *Recording) Add(s Span) {
	last := len(r.chunks) - 1
	if last < 0 || len(r.chunks[last]) == chunkSpans {
		r.chunks = append(r.chunks, make([]Span, 0, chunkSpans))
		last++
	}
	r.chunks[last] = append(r.chunks[last], s)
}

// Set records that counter has value from at on.
func (r *Recording) Set(at sim.Time, counter int32, value int64) {
	r.samples = append(r.samples, Sample{At: at, Counter: counter, Value: value})
}

// Spans calls yield for every span in the order of recording (by end time).
func (r *Recording) Spans(yield func(*Span) bool) {
	for _, c := range r.chunks {
		for i := range c {
			if !yield(&c[i]) {
				return
			}
		}
	}
}

// Len returns the number of spans.
func (r *Recording) Len() int {
	if len(r.chunks) == 0 {
		return 0
	}
	return (len(r.chunks)-1)*chunkSpans + len(r.chunks[len(r.chunks)-1])
}

// Samples returns all samples in the order of recording.
func (r *Recording) Samples() []Sample { return r.samples }
