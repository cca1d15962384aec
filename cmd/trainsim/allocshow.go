package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"trainsim/memory"
	"trainsim/memory/snapshot"
)

// allocSchema names the version of `alloc replay --json`.
const allocSchema = "trainsim.alloc/v1"

// maxDetailed is up to how many recordings each gets a table of its own.
const maxDetailed = 8

// replayed is a recording with its replays: under the recorded settings, then
// under each --conf.
type replayed struct {
	recording *snapshot.Recording
	runs      []*snapshot.Replay
}

// allocReport is what `alloc replay --json` prints.
type allocReport struct {
	Schema     string           `json:"schema"`
	Recordings []allocRecording `json:"recordings"`
}

type allocRecording struct {
	Name     string         `json:"name"`
	Device   int            `json:"device"`
	Entries  int            `json:"entries"`
	Recorded *allocRecorded `json:"recorded"`
	Replays  []allocRun     `json:"replays"`
}

type allocRecorded struct {
	Conf          string `json:"alloc_conf"`
	PeakReserved  int64  `json:"peak_reserved_bytes"`
	FinalReserved int64  `json:"final_reserved_bytes"`
	OOMs          int    `json:"ooms"`
}

type allocRun struct {
	Conf           string     `json:"alloc_conf"`
	Recorded       bool       `json:"as_recorded"`
	Capacity       int64      `json:"capacity_bytes"` // 0 when unbounded
	Allocations    int        `json:"allocations"`
	Unmatched      int        `json:"unmatched_entries"`
	PeakAllocated  int64      `json:"peak_allocated_bytes"`
	PeakReserved   int64      `json:"peak_reserved_bytes"`
	MaxCached      int64      `json:"max_cached_bytes"`
	AtPeak         allocUsage `json:"at_peak"`
	AtEnd          allocUsage `json:"at_end"`
	Retries        int64      `json:"retries"`
	DeviceAllocs   int64      `json:"device_allocs"`
	DeviceFrees    int64      `json:"device_frees"`
	OOMs           int        `json:"ooms"`
	AvoidedOOMs    int        `json:"avoided_ooms"`
	FirstOOMs      []allocOOM `json:"first_ooms"`
	SameReserved   *float64   `json:"same_reserved_share"` // of the allocations, against the recording
	ReservedMargin *int64     `json:"max_reserved_difference_bytes"`
}

type allocUsage struct {
	Allocated     int64   `json:"allocated_bytes"`
	Reserved      int64   `json:"reserved_bytes"`
	Releasable    int64   `json:"releasable_bytes"`
	LargestIdle   int64   `json:"largest_idle_bytes"`
	Fragmentation float64 `json:"fragmentation"`
	Score         float64 `json:"memory_viz_score"`
}

type allocOOM struct {
	Entry     int    `json:"entry"` // -1: while the state at the start was set up
	Requested int64  `json:"requested_bytes"`
	Free      int64  `json:"free_bytes"`
	Idle      int64  `json:"reserved_but_unallocated_bytes"`
	Message   string `json:"message"`
}

// showReplays prints the report as JSON, as a table for each recording, or as
// one table when there are many.
func (a *app) showReplays(list []replayed) error {
	if a.json {
		r := allocReport{Schema: allocSchema}
		for _, p := range list {
			r.Recordings = append(r.Recordings, p.json())
		}
		return a.writeJSON(r)
	}
	if len(list) > maxDetailed {
		return a.summarise(list)
	}
	for i, p := range list {
		if i > 0 {
			fmt.Fprintln(a.stdout)
		}
		if err := a.detail(p); err != nil {
			return err
		}
	}
	return nil
}

func (p replayed) json() allocRecording {
	r := allocRecording{Name: p.recording.Name, Device: p.recording.Device, Entries: p.recording.Len()}
	for i, run := range p.runs {
		r.Replays = append(r.Replays, jsonRun(run, i == 0))
		if rec := run.Recorded; i == 0 && rec != nil {
			r.Recorded = &allocRecorded{run.Conf.String(), rec.PeakReserved, rec.FinalReserved, rec.OOMs}
		}
	}
	return r
}

func jsonRun(run *snapshot.Replay, asRecorded bool) allocRun {
	s := &run.Stats
	out := allocRun{
		Conf: run.Conf.String(), Recorded: asRecorded, Capacity: run.Capacity, Allocations: run.Allocs, Unmatched: run.Unmatched,
		PeakAllocated: s.AllocatedBytes.All.Peak, PeakReserved: s.ReservedBytes.All.Peak, MaxCached: run.MaxCached,
		AtPeak: jsonUsage(run.Peak), AtEnd: jsonUsage(run.Final),
		Retries: s.NumAllocRetries, DeviceAllocs: s.NumDeviceAlloc, DeviceFrees: s.NumDeviceFree,
		OOMs: run.OOMCount, AvoidedOOMs: run.AvoidedOOMs, FirstOOMs: []allocOOM{},
	}
	for _, o := range run.OOMs {
		out.FirstOOMs = append(out.FirstOOMs, allocOOM{o.Entry, o.Err.Requested, o.Err.Free, o.Err.Unallocated, o.Err.Error()})
	}
	if share, ok := fidelity(run); ok && asRecorded {
		out.SameReserved, out.ReservedMargin = &share, &run.Recorded.MaxDifference
	}
	return out
}

func jsonUsage(segments []memory.Segment) allocUsage {
	u := memory.UsageOf(segments)
	return allocUsage{u.Allocated, u.Reserved, u.Releasable, u.LargestIdle, u.Fragmentation(), u.Score}
}

// fidelity is the share of the recorded allocations after which the replay had
// reserved exactly as much as the recording.
func fidelity(run *snapshot.Replay) (share float64, ok bool) {
	if run.Recorded == nil || run.Allocs == run.Recorded.OOMs {
		return 0, false
	}
	return float64(run.Recorded.Same) / float64(run.Allocs-run.Recorded.OOMs), true
}

// row is a line of the table: a name and a value for each replay.
type row struct {
	name  string
	value func(*snapshot.Replay) string
}

var replayRows = []row{
	{"peak allocated", func(r *snapshot.Replay) string { return memory.FormatSize(r.Stats.AllocatedBytes.All.Peak) }},
	{"peak reserved", func(r *snapshot.Replay) string { return memory.FormatSize(r.Stats.ReservedBytes.All.Peak) }},
	{"most reserved beyond use", func(r *snapshot.Replay) string { return memory.FormatSize(r.MaxCached) }},
	{"at the peak: reserved", func(r *snapshot.Replay) string { return memory.FormatSize(memory.UsageOf(r.Peak).Reserved) }},
	{"  of it not allocated", func(r *snapshot.Replay) string { return percent(memory.UsageOf(r.Peak).Fragmentation()) }},
	{"  largest idle piece", func(r *snapshot.Replay) string { return memory.FormatSize(memory.UsageOf(r.Peak).LargestIdle) }},
	{"at the end: allocated", func(r *snapshot.Replay) string { return memory.FormatSize(r.Stats.AllocatedBytes.All.Current) }},
	{"  reserved", func(r *snapshot.Replay) string { return memory.FormatSize(r.Stats.ReservedBytes.All.Current) }},
	{"  empty_cache would free", func(r *snapshot.Replay) string { return memory.FormatSize(memory.UsageOf(r.Final).Releasable) }},
	{"cache flushes and retries", func(r *snapshot.Replay) string { return fmt.Sprint(r.Stats.NumAllocRetries) }},
	{"driver allocations", func(r *snapshot.Replay) string { return fmt.Sprint(r.Stats.NumDeviceAlloc) }},
	{"driver frees", func(r *snapshot.Replay) string { return fmt.Sprint(r.Stats.NumDeviceFree) }},
	{"ran out of memory", func(r *snapshot.Replay) string { return fmt.Sprint(r.OOMCount) }},
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// detail prints one recording as a table with a column for each replay.
func (a *app) detail(p replayed) error {
	first := p.runs[0]
	fmt.Fprintf(a.stdout, "%s: %s, %s, %s allocated at the start", p.recording.Name, counted(first.Entries, "entry", "entries"), counted(first.Allocs, "allocation", "allocations"),
		memory.FormatSize(first.StartAllocated))
	if first.Capacity > 0 {
		fmt.Fprintf(a.stdout, ", capacity %s", memory.FormatSize(first.Capacity))
	}
	fmt.Fprint(a.stdout, "\n\n")
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', tabwriter.AlignRight|tabwriter.DiscardEmptyColumns)
	for i := range p.runs {
		fmt.Fprintf(w, "\t%s", column(i))
	}
	fmt.Fprintln(w, "\t")
	for _, r := range replayRows {
		fmt.Fprint(w, left(r.name))
		for _, run := range p.runs {
			fmt.Fprintf(w, "\t%s", r.value(run))
		}
		fmt.Fprintln(w, "\t")
	}
	if err := w.Flush(); err != nil {
		return err
	}
	a.legend(p)
	return nil
}

// counted is a number with its word.
func counted(n int, one, many string) string { return fmt.Sprintf("%d %s", n, oneOr(n, one, many)) }

func oneOr(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// left pads a name so that the right-aligned first column reads as left-aligned.
func left(name string) string { return fmt.Sprintf("%-26s", name) }

// column is the heading of a replay.
func column(i int) string {
	if i == 0 {
		return "as recorded"
	}
	return fmt.Sprintf("conf %d", i)
}

// legend explains the columns, what ran out and how far to trust the replay.
func (a *app) legend(p replayed) {
	fmt.Fprintln(a.stdout)
	for i, run := range p.runs {
		conf := run.Conf.String()
		if conf == "" {
			conf = "PyTorch's defaults"
		}
		fmt.Fprintf(a.stdout, "%s: %s\n", column(i), conf)
		for _, o := range run.OOMs[:min(len(run.OOMs), 3)] {
			fmt.Fprintf(a.stdout, "  entry %d: %v\n", o.Entry, o.Err)
		}
		if n := run.OOMCount - 3; n > 0 {
			fmt.Fprintf(a.stdout, "  and %d more\n", n)
		}
		if run.AvoidedOOMs > 0 {
			fmt.Fprintf(a.stdout, "  %s that failed in the recording %s\n", counted(run.AvoidedOOMs, "allocation", "allocations"), oneOr(run.AvoidedOOMs, "fits", "fit"))
		}
		if run.Conf.Backend != "native" {
			fmt.Fprintf(a.stdout, "  backend:%s is not modelled; this is the native allocator\n", run.Conf.Backend)
		}
	}
	first := p.runs[0]
	if share, ok := fidelity(first); ok {
		fmt.Fprintf(a.stdout, "The recording had reserved %s at its peak; the replay as recorded reserves the same after %s.\n",
			memory.FormatSize(first.Recorded.PeakReserved), agreement(share, first.Recorded.MaxDifference))
	}
	if first.Unmatched > 0 {
		fmt.Fprintf(a.stdout, "%s the rest of the recording and %s passed over.\n",
			counted(first.Unmatched, "entry contradicts", "entries contradict"), oneOr(first.Unmatched, "was", "were"))
	}
	if first.Capacity == 0 {
		fmt.Fprintln(a.stdout, "Nothing says how much memory the device has, so nothing runs out; give it with --capacity.")
	}
}

// agreement says how often the replay's reserve was the recording's.
func agreement(share float64, difference int64) string {
	if difference == 0 {
		return "every allocation"
	}
	return fmt.Sprintf("%s of the allocations and is never off by more than %s", percent(share), memory.FormatSize(difference))
}

// summarise prints many recordings in one table, the values of the replays
// side by side in each cell.
func (a *app) summarise(list []replayed) error {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "recording\tentries\tpeak allocated\tpeak reserved\tnot allocated at the peak\tretries\tran out of memory")
	columns := []func(*snapshot.Replay) string{
		replayRows[0].value, replayRows[1].value, replayRows[4].value, replayRows[9].value, replayRows[12].value,
	}
	for _, p := range list {
		fmt.Fprintf(w, "%s\t%d", p.recording.Name, p.recording.Len())
		for _, value := range columns {
			var cells []string
			for _, run := range p.runs {
				cells = append(cells, value(run))
			}
			fmt.Fprintf(w, "\t%s", strings.Join(cells, " -> "))
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}
