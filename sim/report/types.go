package report

// Version is the version of trainsim in everything that it writes.
const Version = "0.1.0"

// Schema names the version of the JSON report. A key is never renamed or dropped.
const Schema = "trainsim.report/v1"

// Report is what a run found: `run --json` prints it. Times are seconds, sizes
// bytes, shares fractions of one.
type Report struct {
	Schema           string  `json:"schema"`
	Version          string  `json:"trainsim_version"`
	Scenario         any     `json:"scenario"`
	Seed             uint64  `json:"seed"`
	StepTime         float64 `json:"step_time_s"`
	TokensPerS       float64 `json:"tokens_per_s"`
	TokensPerSPerGPU float64 `json:"tokens_per_s_per_gpu"`
	SamplesPerS      float64 `json:"samples_per_s"`
	// Padding is the share of the computed tokens that only pad sequences, Steps
	// the steps of different lengths, Evaluation what runs behind the step; all
	// are left out where there are none.
	Padding        float64         `json:"padding_share,omitempty"`
	Steps          *Steps          `json:"steps,omitempty"`
	Evaluation     *Evaluation     `json:"evaluation,omitempty"`
	Faults         *Faults         `json:"faults,omitempty"` // left out on a healthy cluster
	ModelTFLOPS    float64         `json:"model_tflops_per_gpu"`
	HardwareTFLOPS float64         `json:"hardware_tflops_per_gpu"`
	MFU            float64         `json:"mfu"`
	HFU            float64         `json:"hfu"`
	Bubble         Bubble          `json:"bubble"`
	TimePerStage   []StageTime     `json:"time_per_stage"`
	MemoryPerStage []StageMemory   `json:"memory_per_stage"`
	Communication  []Communication `json:"communication"`
	Links          []Link          `json:"links"`
	OOM            *OOM            `json:"oom"`
	Deadlock       *string         `json:"deadlock"` // who waits for whom; null when the step ends
	Assumptions    []string        `json:"assumptions"`
	Advice         []Advice        `json:"advice"`
	Engine         Engine          `json:"engine"`
}

// Faults says what the scenario's slow links, slow GPUs and jitter cost: the same
// step without them, and how much longer the step is.
type Faults struct {
	HealthyStep float64 `json:"healthy_step_s"`
	Cost        float64 `json:"cost_s"`
}

// Bubble is the idle time of the pipeline, a mean over the stages. OverTotal
// is seconds / step (the "bubble rate"), OverIdeal is seconds / (step -
// seconds) (the Megatron papers' bubble time fraction).
type Bubble struct {
	Seconds   float64   `json:"seconds"`
	OverTotal float64   `json:"over_total"`
	OverIdeal float64   `json:"over_ideal"`
	PerStage  []float64 `json:"per_stage"`
	Causes    Causes    `json:"causes"`
	// Definitions holds the figures that papers call the bubble, each by name.
	Definitions BubbleDefinitions `json:"definitions"`
}

// BubbleDefinitions are the four measures in use. Work is the mean over the
// stages of what their micro-batches take, exposed collectives included; the
// makespan runs from the first action of any stage to the end of the last.
type BubbleDefinitions struct {
	// Makespan is makespan - work: what a barrier at the optimizer sees.
	Makespan float64 `json:"makespan_minus_work_s"`
	// OverIdeal is that over work: Megatron-LM's and GPipe's (p-1)/m.
	OverIdeal float64 `json:"over_ideal"`
	// OverTotal is that over the makespan: the "bubble rate", (p-1)/(m+p-1).
	OverTotal float64 `json:"over_total"`
	// Span is the longest span of a stage, first start to last end, minus work:
	// the zero-bubble papers' objective, which start skew does not enter.
	Span float64 `json:"span_minus_work_s"`
}

// Causes splits Bubble.Seconds: they add up to it.
type Causes struct {
	Warmup        float64 `json:"warmup_s"`
	Cooldown      float64 `json:"cooldown_s"`
	Imbalance     float64 `json:"imbalance_s"`
	Communication float64 `json:"communication_s"`
	Straggler     float64 `json:"straggler_s"`
}

// AtPeak splits a rank's memory at its peak by what it is for, in bytes.
type AtPeak struct {
	Weights     int64 `json:"weights"`
	Gradients   int64 `json:"gradients"`
	Optimizer   int64 `json:"optimizer"`
	Activations int64 `json:"activations"`
	Temporaries int64 `json:"temporaries"`
	CommBuffers int64 `json:"comm_buffers"`
	Context     int64 `json:"context"`
}

// StageMemory is the memory of the fullest rank of one pipeline rank, in bytes:
// allocated and reserved as PyTorch counts them, nvidia_smi with CUDA context
// and communication buffers added.
type StageMemory struct {
	Stage         int   `json:"stage"`
	Rank          int   `json:"rank"`
	PeakAllocated int64 `json:"peak_allocated_bytes"`
	PeakReserved  int64 `json:"peak_reserved_bytes"`
	NvidiaSMI     int64 `json:"nvidia_smi_bytes"`
	Capacity      int64 `json:"capacity_bytes"`
	// Allowed is what memory_fraction lets PyTorch reserve, 0 where that is not
	// what limits it.
	Allowed int64 `json:"allowed_bytes,omitempty"`
	Fits    bool  `json:"fits"`
	// PeakInEvaluation says that the peak is in the evaluation behind a step.
	PeakInEvaluation bool   `json:"peak_in_evaluation,omitempty"`
	AtPeak           AtPeak `json:"at_peak"`
}

// Communication sums one kind of collective over one kind of group, a rank's
// view: Count calls, Bytes of payload, Seconds in flight, Exposed seconds that
// the compute stream waited, for late peers and changes of stream as well: a
// rank's collectives of a dimension add up to its stage's seconds of it.
type Communication struct {
	Group      string  `json:"group"`
	Collective string  `json:"collective"`
	Count      int64   `json:"count"`
	Bytes      int64   `json:"bytes"`
	Seconds    float64 `json:"seconds"`
	Exposed    float64 `json:"exposed_s"`
	Algorithm  string  `json:"algorithm"`
	Bottleneck string  `json:"bottleneck_link"`
	BusBW      float64 `json:"busbw"` // bytes a second
}

// Link is one link's use over the step.
type Link struct {
	Name        string  `json:"name"`
	Utilisation float64 `json:"utilisation"`
	Bytes       int64   `json:"bytes"`
}

// OOM says where the simulated job ran out of memory.
type OOM struct {
	Rank   int     `json:"rank"`
	Stage  int     `json:"stage"`
	At     float64 `json:"at_s"`
	Action string  `json:"action"`
	Tensor string  `json:"tensor"` // what was to be allocated
	Step   int     `json:"step"`   // of training, from 0
	// Phase is start-up, first-forward, forward, first-backward, backward,
	// optimizer-step, fragmentation or evaluation.
	Phase     string `json:"phase"`
	Requested int64  `json:"requested_bytes"`
	Allocated int64  `json:"allocated_bytes"`
	Reserved  int64  `json:"reserved_bytes"`
	Free      int64  `json:"free_bytes"`
	// Idle is what PyTorch has reserved and not allocated, in IdlePieces for the
	// request's pool of which the largest is LargestIdle; Outside is what CUDA
	// context and NCCL hold.
	Idle        int64  `json:"idle_bytes"`
	LargestIdle int64  `json:"largest_idle_bytes"`
	IdlePieces  int    `json:"idle_pieces"`
	Outside     int64  `json:"outside_bytes"`
	Capacity    int64  `json:"capacity_bytes"`
	Allowed     int64  `json:"allowed_bytes,omitempty"` // what memory_fraction lets PyTorch reserve, 0: all
	Needed      int64  `json:"needed_bytes"`            // peak that the step would reach with memory enough
	AtPeak      AtPeak `json:"at_peak"`
	// Prefetched is what of the temporaries are batches that wait on the GPU.
	Prefetched *Prefetched `json:"prefetched,omitempty"`
	Suggestion string      `json:"suggestion"`
}

// Prefetched is Batches of BatchBytes of each of the data loader's workers.
type Prefetched struct {
	Bytes      int64 `json:"bytes"`
	Workers    int   `json:"workers"`
	Batches    int   `json:"batches"`
	BatchBytes int64 `json:"batch_bytes"`
}

// Advice is one finding with the change that it suggests: scenario keys and
// their new values.
type Advice struct {
	Code     string         `json:"code"`
	Severity string         `json:"severity"` // error | warning | info
	Text     string         `json:"text"`
	Change   map[string]any `json:"change,omitempty"`
}

// Engine is what the simulation itself did.
type Engine struct {
	Events         uint64   `json:"events"`
	RanksSimulated int      `json:"ranks_simulated"`
	RanksTotal     int      `json:"ranks_total"`
	Wall           *float64 `json:"wall_s,omitempty"`
	EventsPerS     *float64 `json:"events_per_s,omitempty"`
}
