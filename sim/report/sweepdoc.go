package report

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strconv"
)

// SweepDoc is a finished sweep. Its rows come one at a time, in the order of
// the points, so that a sweep of any length fits in memory.
type SweepDoc struct {
	Scenario string
	Axes     []Axis
	Rows     iter.Seq2[SweepRow, error]
}

// Axis is a key of a scenario with the values that a sweep gives it.
type Axis struct {
	Key    string   `json:"key"`    // as in "schedule.microbatches"
	Values []string `json:"values"` // each as it would stand after --set key=
}

// metricColumns are the columns of a sweep's CSV that hold metrics; their names
// are those of the JSON.
var metricColumns = []struct {
	name string
	of   func(*Metrics) string
}{
	{"gpus", func(m *Metrics) string { return strconv.Itoa(m.GPUs) }},
	{"samples", func(m *Metrics) string { return strconv.FormatInt(m.Samples, 10) }},
	{"step_time_s", func(m *Metrics) string { return exactly(m.StepTime) }},
	{"time_per_sample_s", func(m *Metrics) string { return exactly(m.SampleTime) }},
	{"tokens_per_s", func(m *Metrics) string { return exactly(m.TokensPerS) }},
	{"tokens_per_s_per_gpu", func(m *Metrics) string { return exactly(m.TokensPerSPerGPU) }},
	{"model_tflops_per_gpu", func(m *Metrics) string { return exactly(m.ModelTFLOPS) }},
	{"mfu", func(m *Metrics) string { return exactly(m.MFU) }},
	{"bubble_over_total", func(m *Metrics) string { return exactly(m.Bubble) }},
	{"exposed_comm_over_total", func(m *Metrics) string { return exactly(m.ExposedComm) }},
	{"peak_memory_bytes", func(m *Metrics) string { return strconv.FormatInt(m.PeakMemory, 10) }},
	{"capacity_bytes", func(m *Metrics) string { return strconv.FormatInt(m.Capacity, 10) }},
}

func exactly(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// WriteCSV writes a line a point: number, settings, outcome, metrics (empty
// where the point was not simulated), reason, identity.
func (d *SweepDoc) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	line := []string{"point"}
	for _, a := range d.Axes {
		line = append(line, a.Key)
	}
	line = append(line, "outcome")
	for _, c := range metricColumns {
		line = append(line, c.name)
	}
	out.Write(append(line, "reason", "id")) //nolint:errcheck // Flush and Error below
	for row, err := range d.Rows {
		if err != nil {
			return err
		}
		out.Write(row.cells()) //nolint:errcheck // as above
	}
	out.Flush()
	return out.Error()
}

// cells returns the row's line in the CSV.
func (r *SweepRow) cells() []string {
	line := []string{strconv.Itoa(r.Point)}
	for _, s := range r.Settings {
		line = append(line, s.Value)
	}
	line = append(line, r.Outcome)
	for _, c := range metricColumns {
		cell := ""
		if r.Metrics != nil {
			cell = c.of(r.Metrics)
		}
		line = append(line, cell)
	}
	return append(line, r.Reason, r.ID)
}

// WriteJSON writes one document (see [sweepSchema]), a line a point.
func (d *SweepDoc) WriteJSON(w io.Writer) error {
	out := bufio.NewWriter(w)
	head, err := json.Marshal(struct {
		Schema   string `json:"schema"`
		Version  string `json:"trainsim_version"`
		Scenario string `json:"scenario"`
		Axes     []Axis `json:"axes"`
	}{sweepSchema, Version, d.Scenario, d.Axes})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s,\n\"points\":[", head[:len(head)-1])
	separator := "\n"
	for row, err := range d.Rows {
		if err != nil {
			return err
		}
		line, err := JSONLine(&row)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s%s", separator, line[:len(line)-1])
		separator = ",\n"
	}
	fmt.Fprint(out, "\n]}\n")
	return out.Flush()
}
