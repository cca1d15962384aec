package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// compareSchema names the version of `compare --json`. A key is never renamed
// or dropped.
const compareSchema = "trainsim.compare/v1"

// Comparison sets reports side by side. Each list of values has one entry a
// report, in the order of Names.
type Comparison struct {
	Schema   string   `json:"schema"`
	Version  string   `json:"trainsim_version"`
	Names    []string `json:"names"`
	Baseline string   `json:"baseline"`
	// Settings are the keys of the scenarios whose values differ; null where a
	// scenario does not have the key.
	Settings []SettingDiff `json:"settings"`
	Results  []ResultDiff  `json:"results"`
}

// SettingDiff is a key with its value in each scenario, as JSON.
type SettingDiff struct {
	Key    string            `json:"key"`
	Values []json.RawMessage `json:"values"`
}

// ResultDiff is one result of each run, and how many times the baseline's it
// is; a ratio is null where the baseline's is 0.
type ResultDiff struct {
	Key    string     `json:"key"`
	Values []float64  `json:"values"`
	Ratios []*float64 `json:"ratios"`
	// Measure is what the values count.
	Measure Measure `json:"-"`
}

// Compare sets reports side by side, each under a name, with ratios to one of
// them.
func Compare(names []string, reports []*Report, baseline int) (*Comparison, error) {
	c := &Comparison{Schema: compareSchema, Version: Version, Names: names, Baseline: names[baseline],
		Settings: []SettingDiff{}}
	if err := c.compareSettings(reports); err != nil {
		return nil, err
	}
	for _, q := range results {
		r := ResultDiff{Key: q.key, Measure: q.measure}
		for _, rep := range reports {
			r.Values = append(r.Values, q.of(rep))
		}
		for _, v := range r.Values {
			var ratio *float64
			if base := r.Values[baseline]; base != 0 {
				x := v / base
				ratio = &x
			}
			r.Ratios = append(r.Ratios, ratio)
		}
		c.Results = append(c.Results, r)
	}
	return c, nil
}

// Measure is what a result counts.
type Measure uint8

// Measures of results.
const (
	Number Measure = iota
	Seconds
	Share // of one
	Bytes
)

// compared is a result that is compared.
type compared struct {
	key     string
	of      func(*Report) float64
	measure Measure
}

var results = slices.Concat([]compared{
	{"gpus", func(r *Report) float64 { return float64(r.Engine.RanksTotal) }, Number},
	{"samples", func(r *Report) float64 { return r.Samples() }, Number},
	{"step_time_s", func(r *Report) float64 { return r.StepTime }, Seconds},
	{"time_per_sample_s", func(r *Report) float64 { return r.StepTime / max(r.Samples(), 1) }, Seconds},
	{"tokens_per_s", func(r *Report) float64 { return r.TokensPerS }, Number},
	{"tokens_per_s_per_gpu", func(r *Report) float64 { return r.TokensPerSPerGPU }, Number},
	{"model_tflops_per_gpu", func(r *Report) float64 { return r.ModelTFLOPS }, Number},
	{"mfu", func(r *Report) float64 { return r.MFU }, Share},
	{"bubble.over_total", func(r *Report) float64 { return r.Bubble.OverTotal }, Share},
}, stageQuantities(), []compared{
	{"peak_memory_bytes", func(r *Report) float64 { return float64(r.Peak().NvidiaSMI) }, Bytes},
	{"capacity_bytes", func(r *Report) float64 { return float64(r.Peak().Capacity) }, Bytes},
	{"headroom_bytes", func(r *Report) float64 { return float64(r.Peak().Capacity - r.Peak().NvidiaSMI) }, Bytes},
})

// stageQuantities are means over the stages.
func stageQuantities() []compared {
	var out []compared
	for _, p := range StageParts {
		out = append(out, compared{p.Key, func(r *Report) float64 {
			sum := 0.0
			for i := range r.TimePerStage {
				sum += *p.Of(&r.TimePerStage[i])
			}
			return sum / max(float64(len(r.TimePerStage)), 1)
		}, Seconds})
	}
	return out
}

// Samples returns the global batch, which is a whole number.
func (r *Report) Samples() float64 { return math.Round(r.SamplesPerS * r.StepTime) }

// Peak returns the fullest stage.
func (r *Report) Peak() (most StageMemory) {
	for _, s := range r.MemoryPerStage {
		if s.NvidiaSMI > most.NvidiaSMI {
			most = s
		}
	}
	return most
}

// compareSettings finds the keys that differ, in alphabetical order.
func (c *Comparison) compareSettings(reports []*Report) error {
	flat := make([]map[string]json.RawMessage, len(reports))
	all := map[string]bool{}
	for i, r := range reports {
		text, err := json.Marshal(r.Scenario)
		if err != nil {
			return fmt.Errorf("report: %s: its scenario: %w", c.Names[i], err)
		}
		flat[i] = map[string]json.RawMessage{}
		if err := flatten("", text, flat[i]); err != nil {
			return fmt.Errorf("report: %s: its scenario: %w", c.Names[i], err)
		}
		for k := range flat[i] {
			all[k] = true
		}
	}
	keys := make([]string, 0, len(all))
	for k := range all {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		d := SettingDiff{Key: k}
		differs := false
		for _, f := range flat {
			v := f[k]
			if v == nil {
				v = json.RawMessage("null")
			}
			d.Values = append(d.Values, v)
			differs = differs || !bytes.Equal(v, d.Values[0])
		}
		if differs {
			c.Settings = append(c.Settings, d)
		}
	}
	return nil
}

// flatten collects the values of nested objects under dotted keys. Numbers are
// written alike, whether a report is fresh or was read from a file.
func flatten(path string, text json.RawMessage, out map[string]json.RawMessage) error {
	if text = bytes.TrimSpace(text); len(text) == 0 || text[0] != '{' {
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			return err
		}
		same, err := json.Marshal(v)
		out[path] = same
		return err
	}
	var sub map[string]json.RawMessage
	if err := json.Unmarshal(text, &sub); err != nil {
		return err
	}
	for k, v := range sub {
		if err := flatten(strings.TrimPrefix(path+"."+k, "."), v, out); err != nil {
			return err
		}
	}
	return nil
}
