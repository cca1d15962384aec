package report

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"trainsim/schedule"
	"trainsim/sim/step"
)

// sweepSchema names the version of sweep.json. A key is never renamed or dropped.
const sweepSchema = "trainsim.sweep/v1"

// Outcomes of a sweep's points beside [OutcomeOK] and [OutcomeOOM].
const (
	OutcomeInvalid  = "invalid"  // the settings contradict each other
	OutcomeDeadlock = "deadlock" // the schedule cannot advance
	OutcomeFailed   = "failed"   // the simulation failed
)

// SweepRow is one point of a sweep: its settings and what came of them.
// Metrics are there where the point was simulated, out of memory or not.
type SweepRow struct {
	Point    int      `json:"point"`
	ID       string   `json:"id"` // of the resolved scenario and the program's version
	Settings Settings `json:"settings"`
	Outcome  string   `json:"outcome"`
	Reason   string   `json:"reason"` // why it cannot run
	*Metrics
	Mean *StageTime `json:"mean_stage,omitempty"` // where the step goes: the mean over its stages
}

// maxReason is how much of a reason a row keeps.
const maxReason = 2000

// Line returns the row as a line of JSON, its reason cut to 2000 bytes.
func (r *SweepRow) Line() ([]byte, error) {
	cut := *r
	if len(cut.Reason) > maxReason {
		cut.Reason = string(bytes.ToValidUTF8([]byte(cut.Reason[:maxReason]), nil)) + " ..."
	}
	return JSONLine(cut)
}

// JSONLine returns v as one line of JSON with its end.
func JSONLine(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Runs reports whether the point's job runs to its end.
func (r *SweepRow) Runs() bool { return r.Outcome == OutcomeOK && r.Metrics != nil }

// Fill notes a run: its metrics, and whether it runs out of memory.
func (r *SweepRow) Fill(res *step.Result) {
	r.Metrics, r.Outcome = metricsOf(res), OutcomeOK
	r.Mean = meanStage(res)
	if res.OOM != nil {
		r.Outcome, r.Reason = OutcomeOOM, MemoryReason(res.Memory)
	}
}

// Fail notes why a run came to no end.
func (r *SweepRow) Fail(err error) {
	r.Outcome, r.Reason = OutcomeFailed, strings.ReplaceAll(err.Error(), "\n", "; ")
	if errors.Is(err, schedule.ErrDeadlock) {
		r.Outcome = OutcomeDeadlock
	}
}

// Check reports what cannot be in a row that was read from a file.
func (r *SweepRow) Check() error {
	if _, err := hex.DecodeString(r.ID); err != nil || len(r.ID) != 32 {
		return fmt.Errorf("id is %.60q, not 32 hexadecimal digits", r.ID)
	}
	switch r.Outcome {
	case OutcomeOK:
		if r.Metrics == nil || r.StepTime <= 0 {
			return errors.New("a run without a step_time_s")
		}
	case OutcomeOOM, OutcomeInvalid, OutcomeDeadlock, OutcomeFailed:
	default:
		return fmt.Errorf("outcome is %.60q", r.Outcome)
	}
	if r.Metrics == nil {
		return nil
	}
	if err := r.Metrics.check(); err != nil || r.Mean == nil {
		return err
	}
	for _, p := range StageParts {
		if x := *p.Of(r.Mean); !(x >= 0 && x <= r.StepTime*(1+1e-9)) {
			return fmt.Errorf("%s is %g in a step of %g s", p.Key, x, r.StepTime)
		}
	}
	return nil
}

// Setting is a key of a scenario with its value, as written.
type Setting struct{ Key, Value string }

// Settings are the values of what varies, in the order of the axes. In JSON
// they are one object; numbers and booleans in it are bare.
type Settings []Setting

// MarshalJSON writes the object in the order of the settings.
func (s Settings) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, x := range s {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(x.Key)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		if isBare(x.Value) {
			b.WriteString(x.Value)
			continue
		}
		value, err := json.Marshal(x.Value)
		if err != nil {
			return nil, err
		}
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// isBare reports whether a value stands in JSON without quotes.
func isBare(value string) bool {
	switch {
	case value == "true" || value == "false":
		return true
	case value == "" || !strings.ContainsAny(value[:1], "-0123456789"):
		return false
	}
	return json.Valid([]byte(value)) && !strings.ContainsAny(value, " \t\r\n")
}

// UnmarshalJSON reads the object and keeps its order.
func (s *Settings) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("settings are an object of keys and values")
	}
	*s = Settings{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		value, err := d.Token()
		if err != nil {
			return err
		}
		switch value.(type) {
		case string, json.Number, bool:
			*s = append(*s, Setting{key.(string), fmt.Sprint(value)})
		default:
			return fmt.Errorf("setting %q is neither a string, a number nor a boolean", key)
		}
	}
	return nil
}

// Label writes settings for people, each key without its table: "pp=4 tp=2".
func (s Settings) Label() string {
	var parts []string
	for _, x := range s {
		parts = append(parts, ShortKey(x.Key)+"="+x.Value)
	}
	return strings.Join(parts, " ")
}

// ShortKey drops the table from a key.
func ShortKey(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }
