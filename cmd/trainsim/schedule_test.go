package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/schedule/kinds"
)

func TestScheduleText(t *testing.T) {
	r := trainsim("schedule", "zb-h1", "--pp", "2", "-m", "2", "--width", "36")
	require.Equal(t, exitOK, r.code, r.stderr)
	assert.Equal(t, `zb-h1: 2 ranks, 2 micro-batches; F 1, I 1, W 1
makespan 7, work 6 a rank

bubble
  1       makespan - work: lost with a barrier at the optimizer step
  16.7 %  of the ideal, bubble / work: as Megatron and GPipe state it
  14.3 %  of the step, bubble / makespan: the "bubble rate"
  1       span bubble, longest rank - work: lost without that barrier

rank 0 F0===F1===.....I0---W0~~~I1---W1~~~
rank 1 .....F0===I0---F1===I1---W0~~~W1~~~
`, firstLines(r.stdout, 11)+"\n")
}

func firstLines(s string, n int) string {
	lines := strings.Split(s, "\n")
	return strings.Join(lines[:min(n, len(lines))], "\n")
}

// The keys of --format json do not change.
func TestScheduleJSON(t *testing.T) {
	r := trainsim("schedule", "interleaved", "--pp", "4", "--microbatches", "8", "--virtual-stages", "2", "--format", "json")
	require.Equal(t, exitOK, r.code, r.stderr)
	assert.Equal(t, r.stdout, trainsim("schedule", "interleaved", "--virtual-stages", "2", "--json").stdout)
	var doc map[string]any
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &doc))
	for _, key := range []string{"schedule", "p", "m", "v", "ops", "makespan", "work", "bubble", "bubble_over_ideal",
		"bubble_over_total", "span_bubble", "idle", "span", "peak", "peak_input", "messages", "weight_versions"} {
		assert.Contains(t, doc, key)
	}
	assert.Len(t, doc, 17)
	assert.Equal(t, 57.0, doc["makespan"])
	assert.InDelta(t, 3./19, doc["bubble_over_total"], 1e-12)
	ops := doc["ops"].([]any)[0].([]any)
	assert.Equal(t, []any{"F0.0", "F1.0", "F2.0", "F3.0", "F0.1"}, ops[:5])
}

// What --format csv writes is read back as the same schedule, costs per stage
// included.
func TestScheduleFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("cost.csv", []byte("# F,I,W\n1,2,3\n\n2, 2, 2\n"), 0o666))
	r := trainsim("schedule", "zb-h1", "--pp", "2", "-m", "3", "--format", "csv", "-o", "a/my.csv")
	require.Equal(t, exitOK, r.code, r.stderr)
	assert.Equal(t, "wrote a/my.csv\n", r.stderr)
	want := trainsim("schedule", "zb-h1", "--pp", "2", "-m", "3", "--cost-file", "cost.csv", "--latency", "1").stdout
	got := trainsim("schedule", "a/my.csv", "--cost-file", "cost.csv", "--latency", "1").stdout
	assert.Equal(t, strings.Replace(want, "zb-h1", "csv", 1), got)
	assert.Contains(t, got, "costs of each stage from cost.csv, latency 1")

	comm := trainsim("schedule", "a/my.csv", "--format", "comm-csv").stdout
	assert.Contains(t, comm, "0F0,0SEND_F0,")
	assert.Equal(t, "rank 0: F0 F1 I0 W0 F2 I1 W1 I2 W2\nrank 1: F0 I0 F1 I1 W0 F2 I2 W1 W2\n", trainsim("schedule", "a/my.csv", "--format", "lists").stdout)
}

func TestScheduleComm(t *testing.T) {
	r := trainsim("schedule", "1f1b", "--pp", "2", "-m", "2", "--format", "comm", "--system", "megatron")
	require.Equal(t, exitOK, r.code, r.stderr)
	assert.Equal(t, "rank 0: F0 [SF0] F1 [SF1,RB0] B0 [RB1] B1\nrank 1: [RF0] F0 B0 [SB0,RF1] F1 B1 [SB1]\n", r.stdout)
}

func TestScheduleFigures(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range [][]string{{"dualpipe", "--format", "png"}, {"zb-v", "--format", "svg", "-o", "v.svg"}} {
		r := trainsim(append([]string{"schedule"}, args...)...)
		require.Equal(t, exitOK, r.code, r.stderr)
		assert.Empty(t, r.stdout)
	}
	for _, name := range []string{"dualpipe.png", "v.svg"} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		assert.Greater(t, info.Size(), int64(5000))
	}
}

func TestScheduleColor(t *testing.T) {
	assert.NotContains(t, trainsim("schedule", "1f1b").stdout, "\x1b")
	assert.Contains(t, trainsim("schedule", "1f1b", "--color", "always").stdout, "\x1b[34m")
}

func TestScheduleErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"stuck.csv": "0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n", "twice.csv": "0F0,0F0,0B0\n",
		"short.cost": "1,2\n", "word.cost": "1,2,x\n", "none.cost": "# no\n", "one.cost": "1,1,1\n",
	} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
	}
	tests := []struct {
		line string
		code int
		want string
	}{
		{"zb-h3", exitUsage, `unknown schedule "zb-h3"`},
		{"dualpip", exitUsage, `did you mean "dualpipe"?`},
		{"dualpipe --pp 3", exitUsage, "--pp: schedule dualpipe: ranks = 3: even: a rank shares its two stages with the one opposite; write 2 or 4"},
		{"interleaved -m 11", exitUsage, "--microbatches: schedule interleaved: microbatches = 11"},
		{"zb-v --pp 4096 -m 4096", exitUsage, "--microbatches: schedule zb-v: microbatches = 4096: at most 341 beside the other counts, " +
			"as a schedule has up to 8388608 actions; write 341"},
		{"zb-v --pp 10000000", exitUsage, "--pp: schedule zb-v: ranks = 10000000: at most 1398101"},
		{"1f1b --system torch -m 3", exitUsage, "microbatches = 3: at least 4"},
		{"1f1b --system pytorch", exitUsage, `unknown system "pytorch"`},
		{"1f1b --format jsn", exitUsage, `did you mean "json"?`},
		{"zb-h1 --format comm --system deepspeed", exitUsage, "deepspeed does not run zb-h1"},
		{"1f1b --color red", exitUsage, "write auto, always or never"},
		{"1f1b --cost 1,2", exitUsage, "write three, F,I,W"},
		{"1f1b --cost 1,2,-1", exitUsage, "at least 0"},
		{"1f1b --width -1", exitUsage, "--width -1"},
		{"1f1b --cost-file one.cost", exitUsage, "has 4 stages"},
		{"1f1b --cost-file short.cost", exitInput, "short.cost:1: 2 numbers"},
		{"1f1b --cost-file word.cost", exitInput, `word.cost:1: "x" is not a number`},
		{"1f1b --cost-file none.cost", exitInput, "none.cost: no costs"},
		{"1f1b --cost-file gone.cost", exitInput, "gone.cost: no such file"},
		{"gone.csv", exitInput, "gone.csv: no such file"},
		{"twice.csv", exitInput, `twice.csv: row 1, column 2 ("0F0"): runs a second time`},
		{"stuck.csv", exitUnrunnable, "stuck.csv: row 1, column 2 (\"0B0\"): deadlock: rank 0 at 0B0 waits for 1B0 of rank 1"},
		{"twice.csv --pp 3", exitUsage, "--pp has no meaning"},
		{"", exitUsage, "accepts 1 arg"},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			r := trainsim(append([]string{"schedule"}, strings.Fields(tt.line)...)...)
			assert.Equal(t, tt.code, r.code, r.stderr)
			assert.Contains(t, r.stderr, tt.want)
			assert.Empty(t, r.stdout)
		})
	}
}

// A schedule that deadlocks is a valid one that cannot run: exit code 4, and the
// run's report says how far it got. What is no schedule is an invalid input.
func TestDeadlockedSchedules(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, c := range map[string]struct {
		rows [2]string
		code int
		want string
	}{
		"circle": {[2]string{"0F0,0B0,0F1,0B1", "1F0,1F1,1B0,1B1"}, exitUnrunnable, "in B0 waits for a message"},
		"itself": {[2]string{"0B0,0F0,0F1,0B1", "1F0,1B0,1F1,1B1"}, exitUnrunnable, "comes before its own F"},
		"twice":  {[2]string{"0F0,0F0,0B0,0F1,0B1", "1F0,1B0,1F1,1B1"}, exitInput, "runs a second time"},
	} {
		require.NoError(t, os.WriteFile(name+".csv", []byte(c.rows[0]+"\n"+c.rows[1]+"\n"), 0o666))
		require.NoError(t, os.WriteFile(name+".toml", []byte(`name = "`+name+`"
[model]
preset = "gpt2-124m"
seq_len = 1024
[cluster]
preset = "dgx-a100"
nodes = 1
[parallel]
pp = 2
dp = 4
[schedule]
kind = "csv"
microbatches = 2
file = "`+name+`.csv"
`), 0o666))
		assert.Equal(t, c.code, trainsim("schedule", name+".csv").code, name)
		r := trainsim("run", name+".toml", "--no-plots", "--json")
		assert.Equal(t, c.code, r.code, name)
		assert.Contains(t, r.stderr, c.want)
		assert.Equal(t, name == "circle", strings.Contains(r.stdout, `"deadlock": "deadlock at `), name)
	}
}

// Every schedule that list shows can be drawn with the defaults.
func TestEveryScheduleDraws(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, k := range kinds.All() {
		r := trainsim("schedule", k.Name, "-q", "--format", "svg", "-o", filepath.Join("out", k.Name+".svg"))
		assert.Equal(t, exitOK, r.code, "%s: %s", k.Name, r.stderr)
	}
}
