package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"trainsim/memory"
	"trainsim/memory/snapshot"
	"trainsim/sim"
)

// newAllocCommand is `trainsim alloc`, the group of commands on the caching
// allocator alone.
func newAllocCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "alloc",
		Short: "Work with PyTorch's caching allocator alone",
	}
	cmd.AddCommand(newAllocReplayCommand(a))
	return cmd
}

// replayFlags are the flags of `alloc replay`.
type replayFlags struct {
	confs    []string
	capacity string
	fraction float64
	device   int
	snapshot string
}

// newAllocReplayCommand is `trainsim alloc replay`.
func newAllocReplayCommand(a *app) *cobra.Command {
	f := replayFlags{device: -1}
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "Replay an allocation trace under other settings",
		Long: `replay runs a recorded allocation trace through the model of PyTorch's caching
allocator: once under the settings with which it was recorded, and once under
each --conf. It prints what was allocated and reserved, how much of the reserve
lay idle, and what ran out of memory.

FILE is what torch.cuda.memory._dump_snapshot wrote after
torch.cuda.memory._record_memory_history, the same as JSON, or operations in
the form {"total": BYTES, "ops": [["a", id, bytes, stream], ["f", id], ...]}.
A pickle is only read: nothing in it is executed. "-" is stdin.

A trace does not say how much memory the device has. --capacity says what the
driver can give to PyTorch; without it the moment at which the trace ran out
of memory tells, or else nothing runs out.`,
		Example: `  trainsim alloc replay snapshot.pickle --conf expandable_segments:True
  trainsim alloc replay snapshot.pickle --capacity 39GiB --conf max_split_size_mb:128`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.allocReplay(cmd, args[0], &f)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.confs, "conf", nil, "`settings` in the grammar of PYTORCH_CUDA_ALLOC_CONF; may be given "+
		"several times")
	flags.StringVar(&f.capacity, "capacity", "", "`size` of what the driver can give, such as 39GiB")
	flags.Float64Var(&f.fraction, "fraction", 0, "memory fraction, above 0 up to 1")
	flags.IntVar(&f.device, "device", -1, "replay only the trace of this `GPU`")
	flags.StringVar(&f.snapshot, "snapshot", "", "write the last replay as a `file` for pytorch.org/memory_viz")
	a.jsonFlag(cmd)
	return cmd
}

// allocReplay reads the file, replays it under every setting and prints.
func (a *app) allocReplay(cmd *cobra.Command, path string, f *replayFlags) error {
	runs, err := f.options(cmd)
	if err != nil {
		return err
	}
	recordings, err := a.readRecordings(path, f.device)
	if err != nil {
		return err
	}
	var results []snapshot.Comparison
	for _, r := range recordings {
		c := snapshot.Comparison{Recording: r}
		for _, o := range runs {
			out, err := r.Replay(cmd.Context(), o)
			if err != nil {
				return err
			}
			c.Replays = append(c.Replays, out)
		}
		results = append(results, c)
	}
	if a.json {
		err = a.writeJSON(snapshot.NewReport(results))
	} else {
		err = snapshot.WriteText(a.stdout, results)
	}
	if err != nil || f.snapshot == "" {
		return err
	}
	if len(results) != 1 {
		return usagef("--snapshot writes one replay and %s has %d; choose one with --device", path, len(results))
	}
	last := results[0].Replays[len(runs)-1]
	return a.writeFile(f.snapshot, func(w io.Writer) error { return snapshot.WritePickle(w, last.Snapshot) })
}

// options returns what to replay under: the recorded settings, then every
// --conf.
func (f *replayFlags) options(cmd *cobra.Command) ([]snapshot.Options, error) {
	base := snapshot.Options{Fraction: f.fraction}
	if cmd.Flags().Changed("fraction") && !(f.fraction > 0 && f.fraction <= 1) {
		return nil, usagef("--fraction %g: write a number above 0 up to 1", f.fraction)
	}
	if f.capacity != "" {
		size, err := sim.ParseBytes(f.capacity)
		if err != nil || size <= 0 {
			return nil, usagef("--capacity: %q is not a size above 0; write something like 39GiB", f.capacity)
		}
		base.Capacity = int64(size)
	}
	runs := []snapshot.Options{base}
	for _, text := range f.confs {
		conf, err := memory.ParseConf(text)
		if err != nil {
			return nil, usagef("--conf: %w", err)
		}
		o := base
		o.Conf = &conf
		runs = append(runs, o)
	}
	runs[len(runs)-1].Trace = f.snapshot != ""
	return runs, nil
}

// readRecordings reads a trace and keeps that of one device, or of all when
// device is negative.
func (a *app) readRecordings(path string, device int) ([]*snapshot.Recording, error) {
	file, cleanup, err := a.openSeekable(path)
	if err != nil {
		return nil, err
	}
	defer cleanup()
	all, err := snapshot.ReadRecordings(file)
	var failed *os.PathError
	if errors.As(err, &failed) {
		return nil, err
	}
	if err != nil {
		return nil, badInput(fmt.Errorf("%s: %w", path, err))
	}
	var list []*snapshot.Recording
	for _, r := range all {
		if device < 0 || r.Device == device {
			list = append(list, r)
		}
	}
	switch {
	case len(all) == 0:
		return nil, badInput(fmt.Errorf("%s: the snapshot is empty: no device has a trace or a segment; "+
			"call torch.cuda.memory._record_memory_history before what is to be recorded", path))
	case len(list) == 0:
		return nil, usagef("--device %d: %s has no trace of it", device, path)
	}
	return list, nil
}

// openSeekable opens a file that is read twice. Stdin and pipes are copied to
// a temporary file, which cleanup removes.
func (a *app) openSeekable(path string) (file *os.File, cleanup func(), err error) {
	var in io.Reader = a.stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, nil, unreadable(path, err)
		}
		info, err := f.Stat()
		if err == nil && info.IsDir() {
			err = badInput(fmt.Errorf("%s is a directory; write the name of a snapshot", path))
		}
		if err != nil {
			f.Close()
			return nil, nil, err
		}
		if info.Mode().IsRegular() {
			return f, func() { f.Close() }, nil
		}
		defer f.Close()
		in = f
	}
	temp, err := os.CreateTemp("", "trainsim-*.snapshot")
	if err != nil {
		return nil, nil, err
	}
	os.Remove(temp.Name()) //nolint:errcheck // where an open file can be removed, a crash leaves nothing behind
	cleanup = func() {
		temp.Close()
		os.Remove(temp.Name())
	}
	_, err = io.Copy(temp, in)
	if err == nil {
		_, err = temp.Seek(0, io.SeekStart)
	}
	if err != nil {
		cleanup()
		return nil, nil, fmt.Errorf("copying %s: %w", path, err)
	}
	return temp, cleanup, nil
}
