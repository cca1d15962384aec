package schedule

// Options are the counts and costs that a schedule is built for. A zero value
// of an optional field means the schedule's own default.
type Options struct {
	Ranks         int // p, pipeline ranks; at least 1
	Microbatches  int // m, micro-batches a batch (both directions together); at least 1
	VirtualStages int // v, model chunks a rank; 0: the schedule's default

	// GroupSize is the number of micro-batches that an interleaved schedule
	// runs through one chunk before the next (Megatron's
	// --microbatch-group-size-per-virtual-pipeline-stage). 0: as the system
	// does by default.
	GroupSize int
	// MemoryCap is the most chunk activations that zb-auto and v-adaptive keep
	// alive on a rank, from F to W. 0: the schedule's default.
	MemoryCap int
	// WeightShare is the share of a chunk's activation memory that its W still
	// needs after its I, for zb-auto's MemoryCap: from 0 to 1; 0 is taken as 1.
	WeightShare float64
	// Batches is the number of batches that pipedream-2bw runs through; 0: 2.
	Batches int
	// Costs guide the schedules whose order follows from them (Kind.ByCosts). The
	// zero value: F, I and W cost 1, without latency.
	Costs Costs
	// System holds the counts to the checks of one training system; AnySystem
	// accepts what any of them can run.
	System System
}
