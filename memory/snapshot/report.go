package snapshot

import "trainsim/memory"

// reportSchema names the version of a [Report].
const reportSchema = "trainsim.alloc/v1"

// Comparison is a recording with its replays: under the recorded settings, then
// under others.
type Comparison struct {
	Recording *Recording
	Replays   []*Replay
}

// Report is comparisons as JSON. A key is never renamed or dropped.
type Report struct {
	Schema     string            `json:"schema"`
	Recordings []recordingReport `json:"recordings"`
}

type recordingReport struct {
	Name     string          `json:"name"`
	Device   int             `json:"device"`
	Entries  int             `json:"entries"`
	Recorded *recordedReport `json:"recorded"`
	Replays  []replayReport  `json:"replays"`
}

type recordedReport struct {
	Conf          string `json:"alloc_conf"`
	PeakReserved  int64  `json:"peak_reserved_bytes"`
	FinalReserved int64  `json:"final_reserved_bytes"`
	OOMs          int    `json:"ooms"`
}

type replayReport struct {
	Conf           string      `json:"alloc_conf"`
	Recorded       bool        `json:"as_recorded"`
	Capacity       int64       `json:"capacity_bytes"` // 0 when unbounded
	Allocations    int         `json:"allocations"`
	Unmatched      int         `json:"unmatched_entries"`
	PeakAllocated  int64       `json:"peak_allocated_bytes"`
	PeakReserved   int64       `json:"peak_reserved_bytes"`
	MaxCached      int64       `json:"max_cached_bytes"`
	AtPeak         usageReport `json:"at_peak"`
	AtEnd          usageReport `json:"at_end"`
	Retries        int64       `json:"retries"`
	DeviceAllocs   int64       `json:"device_allocs"`
	DeviceFrees    int64       `json:"device_frees"`
	OOMs           int         `json:"ooms"`
	AvoidedOOMs    int         `json:"avoided_ooms"`
	FirstOOMs      []oomReport `json:"first_ooms"`
	SameReserved   *float64    `json:"same_reserved_share"` // of the allocations, against the recording
	ReservedMargin *int64      `json:"max_reserved_difference_bytes"`
}

type usageReport struct {
	Allocated     int64   `json:"allocated_bytes"`
	Reserved      int64   `json:"reserved_bytes"`
	Releasable    int64   `json:"releasable_bytes"`
	LargestIdle   int64   `json:"largest_idle_bytes"`
	Fragmentation float64 `json:"fragmentation"`
	Score         float64 `json:"memory_viz_score"`
}

type oomReport struct {
	Entry     int    `json:"entry"` // -1: while the state at the start was set up
	Requested int64  `json:"requested_bytes"`
	Free      int64  `json:"free_bytes"`
	Idle      int64  `json:"reserved_but_unallocated_bytes"`
	Message   string `json:"message"`
}

// NewReport puts comparisons into the form in which they are written as JSON.
func NewReport(list []Comparison) Report {
	r := Report{Schema: reportSchema}
	for _, c := range list {
		r.Recordings = append(r.Recordings, c.report())
	}
	return r
}

func (c Comparison) report() recordingReport {
	r := recordingReport{Name: c.Recording.Name, Device: c.Recording.Device, Entries: c.Recording.Len()}
	for i, run := range c.Replays {
		r.Replays = append(r.Replays, newReplayReport(run, i == 0))
		if rec := run.Recorded; i == 0 && rec != nil {
			r.Recorded = &recordedReport{run.Conf.String(), rec.PeakReserved, rec.FinalReserved, rec.OOMs}
		}
	}
	return r
}

func newReplayReport(run *Replay, asRecorded bool) replayReport {
	s := &run.Stats
	out := replayReport{
		Conf: run.Conf.String(), Recorded: asRecorded, Capacity: run.Capacity, Allocations: run.Allocs,
		Unmatched: run.Unmatched, MaxCached: run.MaxCached,
		PeakAllocated: s.AllocatedBytes.All.Peak, PeakReserved: s.ReservedBytes.All.Peak,
		AtPeak: newUsageReport(run.Peak), AtEnd: newUsageReport(run.Final),
		Retries: s.NumAllocRetries, DeviceAllocs: s.NumDeviceAlloc, DeviceFrees: s.NumDeviceFree,
		OOMs: run.OOMCount, AvoidedOOMs: run.AvoidedOOMs, FirstOOMs: []oomReport{},
	}
	for _, o := range run.OOMs {
		out.FirstOOMs = append(out.FirstOOMs, oomReport{o.Entry, o.Err.Requested, o.Err.Free, o.Err.Unallocated,
			o.Err.Error()})
	}
	if share, ok := fidelity(run); ok && asRecorded {
		out.SameReserved, out.ReservedMargin = &share, &run.Recorded.MaxDifference
	}
	return out
}

func newUsageReport(segments []memory.Segment) usageReport {
	u := memory.UsageOf(segments)
	return usageReport{u.Allocated, u.Reserved, u.Releasable, u.LargestIdle, u.Fragmentation(), u.Score}
}

// fidelity is the share of the recorded allocations after which the replay had
// reserved exactly as much as the recording.
func fidelity(run *Replay) (share float64, ok bool) {
	if run.Recorded == nil || run.Allocs == run.Recorded.OOMs {
		return 0, false
	}
	return float64(run.Recorded.Same) / float64(run.Allocs-run.Recorded.OOMs), true
}
