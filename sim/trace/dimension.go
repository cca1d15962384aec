package trace

// Dimension is one way in which a job is spread over GPUs, and the communication
// that it costs: it has a kind of span, a stream of each rank, seconds in reports
// and a colour in figures. Groups that serve several dimensions (the replicas of
// an expert, the two ends that share an embedding) belong to one of them.
//
// To add a dimension: its constant and its row of the table below; its groups of
// ranks in model.Group, with what layers send over them; which of those groups are
// its own in code.Dimensions; who is a member in sim/job/groups.go and, if the job
// chooses its size, the field in job.Parallel; and both keys, of the scenario and
// of the report, in package keys. Kinds of spans, streams, reports and figures
// follow.
type Dimension uint8

// Dimensions, in the order of reports, streams and legends.
const (
	TP Dimension = iota // tensor parallelism
	PP                  // pipeline parallelism
	DP                  // data parallelism: gradient reduce, parameter gather
	CP                  // context parallelism
	EP                  // expert parallelism
	NumDimensions
)

// dimensions is the one table of what distinguishes them. The key begins the
// names of JSON keys and kinds ("tp_comm_s") and names the stream; the colours
// are of the palette of figures, whose distances package chart checks.
var dimensions = [NumDimensions]struct {
	key, name string
	color     uint32
}{
	TP: {"tp", "tensor-parallel", 0xF0E442},  // yellow
	PP: {"pp", "pipeline", 0x000000},         // black
	DP: {"dp", "data-parallel", 0xD55E00},    // vermillion
	CP: {"cp", "context-parallel", 0x804020}, // brown
	EP: {"ep", "expert-parallel", 0x8000E0},  // violet
}

// String returns the dimension's key, "tp".
func (d Dimension) String() string {
	if d < NumDimensions {
		return dimensions[d].key
	}
	return "unknown"
}

// Name returns the dimension as an adjective, "tensor-parallel".
func (d Dimension) Name() string { return dimensions[d].name }

// Color returns the dimension's colour in figures, 0xRRGGBB.
func (d Dimension) Color() uint32 { return dimensions[d].color }

// Kind returns the kind of the dimension's spans.
func (d Dimension) Kind() Kind { return firstComm + Kind(d) }

// Stream returns the stream that the dimension's communication runs on.
func (d Dimension) Stream() Stream { return firstCommStream + Stream(d) }
