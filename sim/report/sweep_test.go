package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSettingsKeepOrderAndForm(t *testing.T) {
	s := Settings{{"z", "4"}, {"a", "80GiB"}, {"m", "true"}, {"l", "[1,2]"}, {"q", `"x"`}, {"f", "0.50"}, {"n", "-1e3"}, {"o", "007"}, {"e", ""}}
	text, err := json.Marshal(s)
	require.NoError(t, err)
	assert.Equal(t, `{"z":4,"a":"80GiB","m":true,"l":"[1,2]","q":"\"x\"","f":0.50,"n":-1e3,"o":"007","e":""}`, string(text))
	var again Settings
	require.NoError(t, json.Unmarshal(text, &again))
	assert.Equal(t, s, again)
	assert.Error(t, json.Unmarshal([]byte(`{"a":[1]}`), &again))
	assert.Error(t, json.Unmarshal([]byte(`[1]`), &again))
	assert.Equal(t, "pp=4 tp=2", Settings{{"parallel.pp", "4"}, {"parallel.tp", "2"}}.Label())
}

func TestKnee(t *testing.T) {
	tests := []struct {
		ys   []float64
		want int
		ok   bool
	}{
		{[]float64{100, 60, 40, 31, 30.5, 30}, 3, true},
		{[]float64{100, 60, 40, 30}, 3, false}, // still falls
		{[]float64{30, 30.1, 30}, 0, false},    // flat
		{[]float64{50, 30, 40, 60}, 1, true},   // rises again
		{[]float64{2, 1}, 1, false},
		{[]float64{0, 3, 1.01, 1, 1}, 2, true}, // 0 is no time
		{nil, 0, false},
	}
	for _, tt := range tests {
		i, ok := Knee(tt.ys)
		assert.Equal(t, tt.ok, ok, tt.ys)
		if ok {
			assert.Equal(t, tt.want, i, tt.ys)
		}
	}
}

// The knee of a pipeline's fill and drain: time a sample is 1 + (p-1)/m, which
// is within 5 % of its value at M micro-batches from m on.
func TestKneeOfFillAndDrain(t *testing.T) {
	const p = 4
	var ys []float64
	for m := 1; m <= 256; m++ {
		ys = append(ys, 1+float64(p-1)/float64(m))
	}
	i, ok := Knee(ys)
	require.True(t, ok)
	limit := 1.05 * ys[len(ys)-1]
	assert.LessOrEqual(t, ys[i], limit)
	assert.Greater(t, ys[i-1], limit)
}

func row(point int, time float64, settings ...string) SweepRow {
	r := SweepRow{Point: point, ID: fmt.Sprint(point), Outcome: OutcomeOK, Metrics: &Metrics{StepTime: time, SampleTime: time, Samples: 1, Capacity: 10, PeakMemory: 5}}
	for _, s := range settings {
		k, v, _ := strings.Cut(s, "=")
		r.Settings = append(r.Settings, Setting{k, v})
	}
	return r
}

func TestCurves(t *testing.T) {
	var all []SweepRow
	for _, pp := range []string{"p.pp=1", "p.pp=2"} {
		for _, m := range []string{"16", "2", "8"} {
			all = append(all, row(len(all), 1, pp, "s.m="+m, "s.size="+m+"0"))
		}
	}
	curves := Curves(all, "s.m")
	require.Len(t, curves, 2, "s.size goes with s.m and is no series")
	assert.Equal(t, "pp=2", curves[1].Series)
	var ms []string
	for _, r := range curves[0].Rows {
		ms = append(ms, r.Settings.Value("s.m"))
	}
	assert.Equal(t, []string{"2", "8", "16"}, ms, "by number, not by text")
}

func TestCurveAxis(t *testing.T) {
	axis := func(key string, values ...string) Axis { return Axis{key, values} }
	assert.Equal(t, "schedule.chunks", CurveAxis([]Axis{axis("parallel.tp", "1", "2", "4", "8"), axis("schedule.chunks", "2", "4", "8")}))
	assert.Equal(t, "parallel.tp", CurveAxis([]Axis{axis("schedule.kind", "a", "b"), axis("parallel.tp", "1", "2"), axis("parallel.pp", "1", "2")}))
	assert.Equal(t, "schedule.kind", CurveAxis([]Axis{axis("parallel.tp", "1", "2"), axis("schedule.kind", "a", "b", "c")}))
}

func seq(rows []SweepRow) iter.Seq2[SweepRow, error] {
	return func(yield func(SweepRow, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// JSON and CSV hold the same points, and read back as what was written.
func TestSweepDocuments(t *testing.T) {
	all := []SweepRow{
		{Point: 2, ID: "aa", Settings: Settings{{"parallel.tp", "4"}}, Outcome: OutcomeOK, Metrics: &Metrics{GPUs: 8, StepTime: 0.1, PeakMemory: 7}},
		{Point: 0, ID: "bb", Settings: Settings{{"parallel.tp", "1"}}, Outcome: OutcomeInvalid, Reason: "tp: \"no\"\nfor <two> reasons"},
		{Point: 1, ID: "cc", Settings: Settings{{"parallel.tp", "2"}}, Outcome: OutcomeOOM, Reason: "full", Metrics: &Metrics{}},
	}
	d := &SweepDoc{Scenario: "s", Axes: []Axis{{"parallel.tp", []string{"1", "2", "4"}}}, Rows: seq(all)}
	var b bytes.Buffer
	require.NoError(t, d.WriteJSON(&b))
	var doc struct {
		Schema string
		Points []SweepRow
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &doc))
	assert.Equal(t, sweepSchema, doc.Schema)
	assert.Equal(t, all, doc.Points)

	b.Reset()
	require.NoError(t, d.WriteCSV(&b))
	lines, err := csv.NewReader(&b).ReadAll()
	require.NoError(t, err)
	require.Len(t, lines, 1+len(all))
	assert.Equal(t, "parallel.tp", lines[0][1])
	assert.Equal(t, []string{"2", "4", "ok", "8"}, lines[1][:4])
	assert.Empty(t, lines[2][3], "an invalid point has no metrics")
	assert.Equal(t, all[1].Reason, lines[2][len(lines[2])-2])

	empty := &SweepDoc{Rows: seq(nil)}
	b.Reset()
	require.NoError(t, empty.WriteJSON(&b))
	assert.True(t, json.Valid(b.Bytes()))
}

// The best points of a sweep are in order, and what does not run is not among them.
func TestSweepSummary(t *testing.T) {
	var all []SweepRow
	for i := range 500 {
		r := row(i, 1+float64((i*37)%500)/100, fmt.Sprintf("s.m=%d", i))
		if i == 0 {
			r.Outcome, r.Reason = OutcomeOOM, "stage 0 is full"
		}
		all = append(all, r)
	}
	d := &SweepDoc{Scenario: "s", Axes: []Axis{{"s.m", []string{"1", "2"}}}, Rows: seq(all)}
	s, err := d.Summarize()
	require.NoError(t, err)
	assert.Equal(t, map[string]int{OutcomeOK: 499, OutcomeOOM: 1}, s.Counts)
	require.Len(t, s.Best, bestRows)
	for i := range s.Best[1:] {
		assert.Less(t, s.Best[i].SampleTime, s.Best[i+1].SampleTime)
	}
	assert.NotEqual(t, 0, s.Best[0].Point, "what is out of memory is not the best")
}

func TestLongReasonsAreCut(t *testing.T) {
	r := SweepRow{ID: "x", Reason: strings.Repeat("é", 5000)}
	line, err := r.Line()
	require.NoError(t, err)
	assert.Less(t, len(line), 2*maxReason)
	var again SweepRow
	require.NoError(t, json.Unmarshal(line, &again))
	assert.True(t, strings.HasSuffix(again.Reason, "é ..."))
}
