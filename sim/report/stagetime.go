package report

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"trainsim/sim/trace"
)

// StageTime is where one pipeline rank's step goes, in seconds. Its [StageParts] add
// up to Step exactly: Comm are exposed seconds of each dimension, not hidden
// behind computation, Host is the GPU waiting for its CPU. ExposedComm is the
// sum of Comm.
type StageTime struct {
	Stage                    int
	Compute, Recompute, Host float64
	Comm                     [trace.NumDimensions]float64
	Optimizer, Bubble        float64
	ExposedComm, Step        float64
}

// StagePart is one of the parts that add up to a stage's step.
type StagePart struct {
	Key  string     // in JSON, "compute_s"
	Name string     // in a sentence, "computation"
	Kind trace.Kind // whose colour it has in figures; computation as a whole is Forward
	Of   func(*StageTime) *float64
}

// StageParts lists the parts of a stage's step in the order of JSON, tables and
// figures.
var StageParts = parts()

func parts() []StagePart {
	out := []StagePart{
		{"compute_s", "computation", trace.Forward, func(t *StageTime) *float64 { return &t.Compute }},
		{"recompute_s", "recomputation", trace.Recompute, func(t *StageTime) *float64 { return &t.Recompute }},
		{"host_s", "CPU", trace.HostWait, func(t *StageTime) *float64 { return &t.Host }},
	}
	for d := range trace.NumDimensions {
		out = append(out, StagePart{d.String() + "_comm_s", strings.ToUpper(d.String()) + " communication", d.Kind(),
			func(t *StageTime) *float64 { return &t.Comm[d] }})
	}
	return append(out,
		StagePart{"optimizer_s", "optimizer", trace.Optimizer, func(t *StageTime) *float64 { return &t.Optimizer }},
		StagePart{"bubble_s", "bubble", trace.Bubble, func(t *StageTime) *float64 { return &t.Bubble }})
}

// keyed lists all seconds in the order of JSON, where stage comes before them.
var keyed = append(parts(),
	StagePart{Key: "exposed_comm_s", Of: func(t *StageTime) *float64 { return &t.ExposedComm }},
	StagePart{Key: "step_s", Of: func(t *StageTime) *float64 { return &t.Step }})

// MarshalJSON writes {"stage":0,"compute_s":1.5,...,"step_s":2}.
func (t StageTime) MarshalJSON() ([]byte, error) {
	b := strconv.AppendInt([]byte(`{"stage":`), int64(t.Stage), 10)
	for _, p := range keyed {
		v, err := json.Marshal(*p.Of(&t))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Key, err)
		}
		b = fmt.Appendf(b, ",%q:%s", p.Key, v)
	}
	return append(b, '}'), nil
}

// UnmarshalJSON reads what MarshalJSON wrote. Keys that are missing leave 0;
// others are ignored.
func (t *StageTime) UnmarshalJSON(text []byte) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(text, &values); err != nil {
		return err
	}
	*t = StageTime{}
	read := func(key string, into any) error {
		if v, ok := values[key]; ok {
			if err := json.Unmarshal(v, into); err != nil {
				return fmt.Errorf("time of a stage: %s: %w", key, err)
			}
		}
		return nil
	}
	if err := read("stage", &t.Stage); err != nil {
		return err
	}
	for _, p := range keyed {
		if err := read(p.Key, p.Of(t)); err != nil {
			return err
		}
	}
	return nil
}

// MeanTime averages each part, and the exposed communication, over stages.
func MeanTime(stages []StageTime) StageTime {
	var mean StageTime
	n := max(float64(len(stages)), 1)
	for i := range stages {
		for _, p := range keyed {
			*p.Of(&mean) += *p.Of(&stages[i]) / n
		}
	}
	return mean
}
