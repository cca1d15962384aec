package snapshot

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"trainsim/memory"
)

// maxDetailed is up to how many recordings each gets a table of its own.
const maxDetailed = 8

// WriteText writes comparisons as a table for each recording, or as one table
// when there are many.
func WriteText(out io.Writer, list []Comparison) error {
	if len(list) > maxDetailed {
		return summarise(out, list)
	}
	for i, c := range list {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err := c.table(out); err != nil {
			return err
		}
	}
	return nil
}

// summarise writes many recordings in one table, the values of the replays side
// by side in each cell.
func summarise(out io.Writer, list []Comparison) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "recording\tentries")
	for _, r := range replayRows {
		if r.column != "" {
			fmt.Fprint(w, "\t", r.column)
		}
	}
	fmt.Fprintln(w)
	for _, c := range list {
		fmt.Fprintf(w, "%s\t%d", c.Recording.Name, c.Recording.Len())
		for _, r := range replayRows {
			if r.column == "" {
				continue
			}
			var cells []string
			for _, run := range c.Replays {
				cells = append(cells, r.value(run))
			}
			fmt.Fprint(w, "\t", strings.Join(cells, " -> "))
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

// table writes one recording as a table with a column for each replay.
func (c Comparison) table(out io.Writer) error {
	first := c.Replays[0]
	fmt.Fprintf(out, "%s: %s, %s, %s allocated at the start", c.Recording.Name,
		counted(first.Entries, "entry", "entries"), counted(first.Allocs, "allocation", "allocations"),
		memory.FormatSize(first.StartAllocated))
	if first.Capacity > 0 {
		fmt.Fprintf(out, ", capacity %s", memory.FormatSize(first.Capacity))
	}
	fmt.Fprint(out, "\n\n")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight|tabwriter.DiscardEmptyColumns)
	for i := range c.Replays {
		fmt.Fprintf(w, "\t%s", column(i))
	}
	fmt.Fprintln(w, "\t")
	for _, r := range replayRows {
		fmt.Fprint(w, left(r.name))
		for _, run := range c.Replays {
			fmt.Fprintf(w, "\t%s", r.value(run))
		}
		fmt.Fprintln(w, "\t")
	}
	if err := w.Flush(); err != nil {
		return err
	}
	c.legend(out)
	return nil
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

// row is a line of a recording's table: a name and a value for each replay.
type row struct {
	name   string
	column string // the heading in the table of many recordings, "" for none
	value  func(*Replay) string
}

var replayRows = []row{
	{"peak allocated", "peak allocated",
		func(r *Replay) string { return memory.FormatSize(r.Stats.AllocatedBytes.All.Peak) }},
	{"peak reserved", "peak reserved",
		func(r *Replay) string { return memory.FormatSize(r.Stats.ReservedBytes.All.Peak) }},
	{"most reserved beyond use", "", func(r *Replay) string { return memory.FormatSize(r.MaxCached) }},
	{"at the peak: reserved", "",
		func(r *Replay) string { return memory.FormatSize(memory.UsageOf(r.Peak).Reserved) }},
	{"  of it not allocated", "not allocated at the peak",
		func(r *Replay) string { return percent(memory.UsageOf(r.Peak).Fragmentation()) }},
	{"  largest idle piece", "",
		func(r *Replay) string { return memory.FormatSize(memory.UsageOf(r.Peak).LargestIdle) }},
	{"at the end: allocated", "",
		func(r *Replay) string { return memory.FormatSize(r.Stats.AllocatedBytes.All.Current) }},
	{"  reserved", "", func(r *Replay) string { return memory.FormatSize(r.Stats.ReservedBytes.All.Current) }},
	{"  empty_cache would free", "",
		func(r *Replay) string { return memory.FormatSize(memory.UsageOf(r.Final).Releasable) }},
	{"cache flushes and retries", "retries", func(r *Replay) string { return fmt.Sprint(r.Stats.NumAllocRetries) }},
	{"driver allocations", "", func(r *Replay) string { return fmt.Sprint(r.Stats.NumDeviceAlloc) }},
	{"driver frees", "", func(r *Replay) string { return fmt.Sprint(r.Stats.NumDeviceFree) }},
	{"ran out of memory", "ran out of memory", func(r *Replay) string { return fmt.Sprint(r.OOMCount) }},
}

// legend explains the columns, what ran out and how far to trust the replay.
func (c Comparison) legend(out io.Writer) {
	fmt.Fprintln(out)
	for i, run := range c.Replays {
		conf := run.Conf.String()
		if conf == "" {
			conf = "PyTorch's defaults"
		}
		fmt.Fprintf(out, "%s: %s\n", column(i), conf)
		for _, o := range run.OOMs[:min(len(run.OOMs), 3)] {
			fmt.Fprintf(out, "  entry %d: %v\n", o.Entry, o.Err)
		}
		if n := run.OOMCount - 3; n > 0 {
			fmt.Fprintf(out, "  and %d more\n", n)
		}
		if run.AvoidedOOMs > 0 {
			fmt.Fprintf(out, "  %s that failed in the recording %s\n",
				counted(run.AvoidedOOMs, "allocation", "allocations"), oneOr(run.AvoidedOOMs, "fits", "fit"))
		}
		if run.Conf.Backend != "native" {
			fmt.Fprintf(out, "  backend:%s is not modelled; this is the native allocator\n", run.Conf.Backend)
		}
	}
	first := c.Replays[0]
	if share, ok := fidelity(first); ok {
		fmt.Fprintf(out, "The recording had reserved %s at its peak; the replay as recorded reserves the same after "+
			"%s.\n",
			memory.FormatSize(first.Recorded.PeakReserved), agreement(share, first.Recorded.MaxDifference))
	}
	if first.Unmatched > 0 {
		fmt.Fprintf(out, "%s the rest of the recording and %s passed over.\n",
			counted(first.Unmatched, "entry contradicts", "entries contradict"), oneOr(first.Unmatched, "was", "were"))
	}
	if first.Capacity == 0 {
		fmt.Fprintln(out, "Nothing says how much memory the device has, so nothing runs out; give it with --capacity.")
	}
}

// agreement says how often the replay's reserve was the recording's.
func agreement(share float64, difference int64) string {
	if difference == 0 {
		return "every allocation"
	}
	return fmt.Sprintf("%s of the allocations and is never off by more than %s", percent(share),
		memory.FormatSize(difference))
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// counted is a number with its word.
func counted(n int, one, many string) string { return fmt.Sprintf("%d %s", n, oneOr(n, one, many)) }

func oneOr(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
