package scenarios

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim"
	"trainsim/sim/input"
	"trainsim/sim/job"
	"trainsim/sim/model"
)

// reload writes a Config and reads it back, without any file beside it.
func reload(t *testing.T, cfg *job.Config) *job.Config {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Write(&b, cfg))
	text := b.String()
	again, err := LoadReader(&b, "resolved.toml", nil)
	require.NoError(t, err, text)
	return again
}

func TestEveryScenarioLoadsAndReloads(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			cfg, err := Load(name)
			require.NoError(t, err)
			assert.Equal(t, name, cfg.Name)
			assert.NotEmpty(t, cfg.Description)
			assert.Equal(t, cfg, reload(t, cfg))
		})
	}
}

// TestEveryPresetLoads: each preset is enough for its table.
func TestEveryPresetLoads(t *testing.T) {
	for kind, text := range map[string]string{
		"models":   "model.preset = %q\ncluster.preset = \"dgx-h100\"\n",
		"gpus":     "model.preset = \"generic-1b\"\ncluster.gpu = %q\ncluster.gpus_per_node = 1\n",
		"clusters": "model.preset = \"generic-1b\"\ncluster.preset = %q\n",
	} {
		entries, err := List(kind)
		require.NoError(t, err)
		for _, e := range entries {
			t.Run(kind+"/"+e.Name, func(t *testing.T) {
				assert.NotEmpty(t, e.Description)
				cfg, err := LoadReader(strings.NewReader(fmt.Sprintf(text, e.Name)), "test.toml", nil)
				require.NoError(t, err)
				assert.Equal(t, cfg, reload(t, cfg))
			})
		}
	}
}

func TestFilesBesideTheScenario(t *testing.T) {
	cfg, err := Load("testdata/good/topology.toml")
	require.NoError(t, err)
	assert.Equal(t, "topology", cfg.Name)
	assert.EqualValues(t, 1_235_814_400, cfg.Model.Parameters())
	assert.EqualValues(t, 8192, cfg.Model.SeqLen, "the scenario goes before the config")
	assert.Equal(t, "capped-a100", cfg.GPU.Name)
	assert.Equal(t, "An A100 at 250 W", cfg.GPU.Description)
	assert.EqualValues(t, 250, cfg.GPU.PowerLimit)
	assert.Equal(t, sim.Bytes(64<<30), cfg.GPU.Memory, "the scenario goes before the preset")
	assert.Equal(t, 108, cfg.GPU.SMs, "from the preset below the preset")
	assert.Equal(t, 4, cfg.Cluster.Topology.GPUs())
	assert.Equal(t, 2, cfg.Parallel.DP, "8 GPUs of the matrix, not 16 of the preset")
	assert.Equal(t, cfg, reload(t, cfg))
}

func TestScheduleFromAFile(t *testing.T) {
	cfg, err := Load("testdata/good/csv.toml")
	require.NoError(t, err)
	assert.Equal(t, "csv \"quoted\" \\ name\twith a tab é", cfg.Name)
	assert.Equal(t, "csv", cfg.Schedule.Kind)
	assert.Equal(t, "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n", cfg.Schedule.CSV)
	assert.Equal(t, 2, cfg.Schedule.Microbatches, "chunks is another name")
	assert.Equal(t, []int{1, 0}, cfg.Cluster.VisibleDevices)
	assert.Equal(t, []int{1, 1}, cfg.Schedule.LayersPerStage)
	assert.Equal(t, "two-layers", cfg.Model.Name)
	assert.Equal(t, cfg, reload(t, cfg))
}

// TestDefaults: what a scenario with nothing but a model and a machine gets.
func TestDefaults(t *testing.T) {
	cfg, err := LoadReader(strings.NewReader("model.preset = \"llama-2-7b\"\ncluster.preset = "+
		"\"dgx-h100\"\ncluster.nodes = 2\n"), "dir/small.toml", nil)
	require.NoError(t, err)
	assert.Equal(t, "small", cfg.Name)
	assert.Equal(t, job.Parallel{TP: 1, PP: 1, DP: 16, CP: 1, EP: 1, ETP: 1, CPComm: "auto", BackwardPrefetch: "pre"},
		cfg.Parallel)
	assert.Equal(t, job.Training{Precision: "bf16", GradPrecision: "fp32", Optimizer: "adam", Recompute: "none",
		RecomputeN: 1, CrossEntropy: "auto"}, cfg.Training)
	assert.Equal(t, "1f1b", cfg.Schedule.Kind)
	assert.Equal(t, 1, cfg.Schedule.MicrobatchSize)
	assert.Equal(t, 1, cfg.Schedule.VirtualStages)
	assert.Equal(t, model.Flash, cfg.Model.Attention)
	assert.EqualValues(t, 32, cfg.Model.KVHeads)
	assert.EqualValues(t, 128, cfg.Model.HeadDim)
	assert.Equal(t, 1.0, cfg.Memory.Fraction)
	assert.Equal(t, "megatron", cfg.Framework.Name)
	assert.Equal(t, 90, cfg.Cluster.ComputeCapability)
}

// TestModelFromWidths: without a preset the model is a GPT as Megatron-LM's.
func TestModelFromWidths(t *testing.T) {
	cfg, err := LoadReader(strings.NewReader("cluster.preset = \"dgx-h100\"\n[model]\nlayers = 12\nhidden = "+
		"768\nheads = 12\nvocab = 50257\nseq_len = 1024\n"), "gpt.toml", nil)
	require.NoError(t, err)
	assert.EqualValues(t, 124_439_808, cfg.Model.Parameters())
}

func TestNamesOfScenarios(t *testing.T) {
	want, err := Load("70b-tp4-pp2")
	require.NoError(t, err)
	for _, name := range []string{"70b-tp4-pp2.toml", "./70b-tp4-pp2.toml"} {
		got, err := Load(name)
		require.NoError(t, err)
		assert.Equal(t, want, got, name)
	}
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("70b-tp4-pp2", 0o755))
	got, err := Load("70b-tp4-pp2")
	require.NoError(t, err, "a folder of figures does not hide the scenario")
	assert.Equal(t, want, got)
	require.NoError(t, os.WriteFile("1b-static", []byte("name = \"mine\"\nmodel.preset = "+
		"\"gpt2-xl\"\ncluster.preset = \"dgx-h100\"\n"), 0o644))
	got, err = Load("1b-static")
	require.NoError(t, err)
	assert.Equal(t, "mine", got.Name, "a file goes before a built-in scenario")
}

func TestSets(t *testing.T) {
	for _, c := range []struct {
		name string
		sets []string
		get  func(*job.Config) any
		want any
	}{
		{"number", []string{"schedule.microbatches=32"},
			func(c *job.Config) any { return c.Schedule.Microbatches }, 32},
		{"alias", []string{"schedule.chunks=32"}, func(c *job.Config) any { return c.Schedule.Microbatches }, 32},
		{"last one counts", []string{"schedule.chunks=32", "schedule.microbatches=8"},
			func(c *job.Config) any { return c.Schedule.Microbatches }, 8},
		{"word", []string{"training.recompute=none"}, func(c *job.Config) any { return c.Training.Recompute }, "none"},
		{"quoted word", []string{`training.recompute="none"`},
			func(c *job.Config) any { return c.Training.Recompute }, "none"},
		{"word of digits", []string{"name=70"}, func(c *job.Config) any { return c.Name }, "70"},
		{"quantity", []string{"cluster.nic_bandwidth=200Gb/s"},
			func(c *job.Config) any { return c.Cluster.NICBandwidth }, sim.Bandwidth(25e9)},
		{"boolean", []string{"parallel.sequence_parallel=false"},
			func(c *job.Config) any { return c.Parallel.SequenceParallel }, false},
		{"preset", []string{"model.preset=llama-2-13b"},
			func(c *job.Config) any { return c.Model.Name }, "llama-2-13b"},
		{"default again", []string{"parallel.dp=", "parallel.tp=8"},
			func(c *job.Config) any { return c.Parallel.DP }, 4},
		{"key of a preset", []string{"gpu.memory=40GiB"},
			func(c *job.Config) any { return c.GPU.Memory }, sim.Bytes(40 << 30)},
		{"array", []string{"schedule.layers_per_stage=[39, 41]"},
			func(c *job.Config) any { return c.Schedule.LayersPerStage }, []int{39, 41}},
		{"spaces", []string{" training.recompute = none "},
			func(c *job.Config) any { return c.Training.Recompute }, "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, err := LoadWith("70b-tp4-pp2", c.sets)
			require.NoError(t, err)
			assert.Equal(t, c.want, c.get(cfg))
		})
	}
}

func TestSetErrorsPointIntoTheOverride(t *testing.T) {
	_, err := LoadWith("70b-tp4-pp2", []string{"training.recompute=none", "schedule.microbatchs=3", "parallel.pp"})
	var all *input.Errors
	require.ErrorAs(t, err, &all)
	require.Len(t, all.Problems, 2)
	assert.Equal(t, "--set:2:1: schedule.microbatchs: is not a key of [schedule]; did you mean \"microbatches\"?",
		all.Problems[0].String())
	assert.Equal(t, "    schedule.microbatchs=3\n    ^~~~~~~~~~~~~~~~~~~~", all.Problems[0].Excerpt())
	assert.Equal(t, "--set:3:1: \"parallel.pp\" is not key=value; write something like parallel.tp=4",
		all.Problems[1].String())
}

// TestResolvedIsTheFile: the JSON form has the keys and values of the TOML form.
func TestResolvedIsTheFile(t *testing.T) {
	cfg, err := Load("testdata/good/topology.toml")
	require.NoError(t, err)
	text, err := json.Marshal(Resolved(cfg))
	require.NoError(t, err)
	var got map[string]any
	require.NoError(t, json.Unmarshal(text, &got))
	assert.Equal(t, "64GiB", got["gpu"].(map[string]any)["memory"])
	assert.EqualValues(t, 4, got["parallel"].(map[string]any)["tp"])
	assert.Contains(t, got["cluster"].(map[string]any)["topology"], "GPU3")
	again, err := json.Marshal(Resolved(cfg))
	require.NoError(t, err)
	assert.Equal(t, string(text), string(again))
}

// TestManyProblems: 20 are shown, 500 kept, all counted.
func TestManyProblems(t *testing.T) {
	var b strings.Builder
	for i := range 600 {
		fmt.Fprintf(&b, "unknown%d = 1\n", i)
	}
	_, err := LoadReader(strings.NewReader(b.String()), "many.toml", nil)
	var all *input.Errors
	require.ErrorAs(t, err, &all)
	assert.Len(t, all.Problems, 500)
	assert.Equal(t, 602, len(all.Problems)+all.Dropped, "and no model and no cluster")
	assert.Equal(t, 20, strings.Count(err.Error(), "many.toml:"))
	assert.True(t, strings.HasSuffix(err.Error(), "... and 582 more"))
}

func TestReaderFails(t *testing.T) {
	_, err := LoadReader(failing{}, "-", nil)
	assert.EqualError(t, err, "-: cannot be read: torn; write the path of a scenario")
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("torn") }

// TestPresetOfTheSameName: a scenario that is called as the preset that it names.
func TestPresetOfTheSameName(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dgx-h100.toml")
	require.NoError(t, os.WriteFile(file, []byte("model.preset = \"gpt2-xl\"\ncluster.preset = \"dgx-h100\"\n"),
		0o644))
	cfg, err := Load(file)
	require.NoError(t, err)
	assert.Equal(t, 8, cfg.Parallel.DP)
}

// A name that a terminal or a file system should not get is refused where it stands,
// as are control characters in any text.
func TestNames(t *testing.T) {
	long := strings.Repeat("é", MaxName/2)
	for name, want := range map[string]string{
		`plain name, also in Ünicode`: "",
		long:                          "",
		long + "x":                    "job.toml:1:8: name: is 201 bytes long; write one of at most 200",
		`a\u001b[31mred`:              "job.toml:1:8: name: has the control character U+001B; take it out",
		`two\nlines`:                  "job.toml:1:8: name: has U+000A as character 4; write one of printable characters",
		`a\u202eb`:                    "job.toml:1:8: name: has U+202E as character 2",
	} {
		_, err := LoadReader(strings.NewReader("name = \""+name+"\"\n[model]\npreset = \"gpt2-124m\"\n[cluster]\npreset = \"dgx-h100\"\n"), "job.toml", nil)
		if want == "" {
			assert.NoError(t, err, name)
			continue
		}
		assert.ErrorContains(t, err, want)
	}
	_, err := LoadReader(strings.NewReader("[model]\npreset = \"gpt2-124m\"\n"), long+"x.toml", nil)
	assert.ErrorContains(t, err, "name: is the file's, which is 201 bytes long")
	_, err = LoadWith("1b-static", []string{"name=a\xffb"})
	assert.ErrorContains(t, err, "name: is not UTF-8")
	_, err = LoadWith("1b-static", []string{`gpu.name="\u009b1m"`})
	assert.ErrorContains(t, err, "gpu.name: has the control character U+009B")
	_, err = LoadWith("1b-static", []string{`description="two\nlines"`})
	assert.NoError(t, err)
}
