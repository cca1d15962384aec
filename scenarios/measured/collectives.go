package measured

import (
	"fmt"
	"path/filepath"
	"strings"

	"trainsim/interconnect"
	"trainsim/interconnect/nccl"
	"trainsim/scenarios/machines"
	"trainsim/sim/input"
)

// Collective is one measured collective: a row of a table like nccl-tests'.
type Collective struct {
	// ID is the file's name and the row's line; Family the GPU and operation.
	ID, Family string
	// GPU is the card, as the table calls it.
	GPU string
	// Cluster is the preset that stands for the machine, Devices how many ranks
	// take part, on as many nodes as the row says. Machine is set where the row's
	// words change the preset or describe a machine that has none; Cluster is then
	// only a name for it.
	Cluster        string
	Machine        *interconnect.Config
	Nodes, Devices int
	Op             nccl.Op
	Bytes          int64
	Settings       nccl.Settings
	// Seconds is the measured time, 0 where none was published. Peak says that it
	// stands for a peak bus bandwidth without a size: it is the time that a message
	// of peakBytes would take at that rate.
	Seconds float64
	Peak    bool
	// Skipped says why the row cannot be predicted; empty where it can.
	Skipped string
}

// peakBytes is the message that a published peak bandwidth without a size is
// compared at: 8 GiB, the largest of nccl-tests' usual range, at which latencies
// no longer count.
const peakBytes = 8 << 30

// collectiveRows reads a table of measured collectives.
func collectiveRows(text []byte, name string, o Options) ([]Row, error) {
	rows, err := ReadCollectives(text, name, o.Cluster)
	if err != nil {
		return nil, err
	}
	var comms Communicators
	out := make([]Row, len(rows))
	for i := range rows {
		c := &rows[i]
		out[i] = timed(c.ID, c.Family, c.Seconds, c.Skipped, func() (float64, error) {
			t, err := comms.Predict(c)
			return t.Seconds(), err
		})
	}
	return out, nil
}

var collectiveColumns = []string{"gpu_type", "gpus", "collective", "size_bytes", "time_us"}

// isCollectives reports whether a CSV header is that of a table of measured
// collectives.
func isCollectives(header []string) bool { return newHeader(header).has(collectiveColumns...) }

// ReadCollectives reads a table of measured collectives, a CSV file with the
// columns gpu_type, gpus, collective, size_bytes (the full vector) and time_us,
// and where they differ from one full node nodes, cluster (a preset's name),
// interconnect (words about the machine, see package machines), dtype and algo_or_env
// (NCCL's algorithm, or its variables as in NCCL_ALGO=Ring NCCL_PROTO=LL; a row
// with one that is not modelled is skipped). A cluster that is given here stands for
// all rows; otherwise the row's own, or the built-in one of its GPU, is taken,
// with the slots and cards that its words state; where the GPU is "not stated",
// one is made of the words alone. A row without size and time but with a peak
// busbw_gb_s is compared at peakBytes. What nccl-tests prints is read, too. A row that lacks a figure is returned with
// Skipped set.
func ReadCollectives(text []byte, name, cluster string) ([]Collective, error) {
	if isNCCLTests(text) {
		var err error
		if text, err = ncclTable(text, name); err != nil {
			return nil, err
		}
	}
	t, err := openTable(text, name)
	if err != nil {
		return nil, err
	}
	if !t.has(collectiveColumns...) {
		return nil, input.FileError(name, "is no table of collectives; write the columns %s",
			strings.Join(collectiveColumns, ", "))
	}
	var out []Collective
	err = t.each(func(r *record) { out = append(out, r.collective(cluster)) })
	return out, err
}

// collective turns the row into a Collective.
func (r *record) collective(cluster string) Collective {
	line, _ := r.place(0)
	out := Collective{
		ID: fmt.Sprintf("%s:%d", filepath.Base(r.file), line), Family: r.text("gpu_type") + " " + r.text("collective"),
		GPU: r.text("gpu_type"), Cluster: cluster, Devices: r.count("gpus", 0), Nodes: r.count("nodes", 1),
		Seconds: r.measure("time_us") * 1e-6,
	}
	if err := out.Op.UnmarshalText([]byte(r.text("collective"))); err != nil {
		r.skip("collective", "%v", err)
	}
	out.Bytes = int64(r.measure("size_bytes"))
	r.peak(&out)
	switch {
	case out.Bytes == 0:
		r.skip("size_bytes", "is empty; write the bytes of the full vector")
	case out.Seconds == 0:
		r.skip("time_us", "is empty; write the measured time")
	case out.Devices%out.Nodes != 0:
		r.skip("gpus", "%d GPUs do not spread evenly over %d nodes; write a count that does", out.Devices, out.Nodes)
	}
	if out.Cluster == "" {
		out.Cluster = r.text("cluster")
	}
	words := machines.Words{GPU: r.text("gpu_type"), Text: r.text("interconnect"), Nodes: out.Nodes,
		PerNode: out.Devices / max(out.Nodes, 1)}
	if out.Cluster == "" {
		var err error
		if out.Cluster, out.Machine, err = words.Machine(); err != nil {
			r.skip("gpu_type", "%v", err)
		}
	}
	out.Settings = r.settings(&words)
	out.Skipped = r.skipped
	return out
}

// peak turns a published peak bus bandwidth without a size into the time of a
// large message at that rate. What a table calls a statement is none.
func (r *record) peak(c *Collective) {
	if c.Bytes != 0 || c.Seconds != 0 || r.text("busbw_gb_s") == "" {
		return
	}
	if strings.Contains(r.text("kind"), "statement") {
		r.skip("kind", "is a statement without a size, which is not scored")
		return
	}
	rate := r.measure("busbw_gb_s")
	if !(rate > 0) {
		return
	}
	c.Bytes, c.Peak = peakBytes, true
	c.Seconds = peakBytes * c.Op.BusFactor(c.Devices) / (1e9 * rate)
}

// settings reads how a benchmark was run.
func (r *record) settings(words *machines.Words) nccl.Settings {
	s, err := ncclWords(r.text("algo_or_env"))
	if err != nil {
		r.skip("algo_or_env", "%v", err)
	}
	s.P2PDisable = s.P2PDisable || words.Has("p2p off", "p2p disabled")
	if strings.Contains(strings.ToLower(words.GPU), "mi300x") {
		s.Model = "ideal" // what runs there is not NCCL
	}
	if d, err := machines.FindGPU(words.GPU); strings.HasPrefix(r.text("dtype"), "fp8") && len(s.Algo) == 0 &&
		(err != nil || !d.Generation().NCCL.NVLS.FP8) {
		s.Algo = []string{"Ring", "Tree"}
	}
	return s
}
