package scenarios_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/scenarios"
	"trainsim/sim"
	"trainsim/sim/framework"
	"trainsim/sim/model"
)

// loadText loads a scenario from its text, on a GPU of eight.
func loadText(t *testing.T, gpu, text string) (framework.Framework, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "job.toml")
	head := "model.preset = \"generic-1b\"\ncluster.gpu = \"" + gpu + "\"\ncluster.gpus_per_node = 1\n"
	require.NoError(t, os.WriteFile(file, []byte(head+text), 0o600))
	cfg, err := scenarios.Load(file)
	if err != nil {
		return framework.Framework{}, err
	}
	return cfg.Framework, nil
}

// Every preset resolves on GPUs of every time, without a scenario's help.
func TestFrameworksLoad(t *testing.T) {
	list, err := scenarios.List("frameworks")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(list), 18)
	for _, e := range list {
		assert.NotEmpty(t, e.Description, e.Name)
		for _, gpu := range []string{"v100-sxm2-32gb", "a100-sxm4-80gb", "h100-sxm5-80gb", "b200-sxm-180gb"} {
			f, err := loadText(t, gpu, "framework.preset = \""+e.Name+"\"\n")
			require.NoError(t, err, e.Name)
			assert.Equal(t, e.Name, f.Name)
			assert.NotEmpty(t, f.Layers, e.Name)
			assert.NotEmpty(t, f.States, e.Name)
			assert.NotEmpty(t, f.CrossEntropy, e.Name)
		}
	}
}

// A preset may ask for the GPU, the model and the software's date.
func TestFrameworkVariants(t *testing.T) {
	layers := func(gpu, text string) framework.Framework {
		f, err := loadText(t, gpu, text)
		require.NoError(t, err)
		return f
	}
	assert.Equal(t, model.EngineModules, layers("h100-sxm5-80gb", "").Layers)
	assert.Equal(t, model.UnfusedLoss, layers("h100-sxm5-80gb", "").CrossEntropy)
	assert.Equal(t, model.EngineLoss, layers("b200-sxm-180gb", "").CrossEntropy)
	assert.Equal(t, model.MegatronModules, layers("h100-sxm5-80gb", "model.attention = \"unfused\"\nmodel.norm = \"layernorm\"\n").Layers)
	assert.Equal(t, model.MegatronModules, layers("a100-sxm4-80gb", "model.norm = \"layernorm\"\n").Layers)
	dated := func(date string) framework.FlashKernel {
		return layers("h100-sxm5-80gb", "framework.preset = \"megatron-core-te\"\nframework.software_date = \""+date+"\"\n").FlashKernel
	}
	assert.Equal(t, framework.Flash2, dated("2024-03"))
	assert.Equal(t, framework.NewestFlash, dated("2024-06"))
	assert.Equal(t, framework.NewestFlash, layers("h100-sxm5-80gb", "framework.preset = \"megatron-core-te\"\n").FlashKernel)
}

func TestFrameworkKeysOverride(t *testing.T) {
	f, err := loadText(t, "h100-sxm5-80gb", "[framework]\npreset = \"eager\"\nloss_metrics = 3\nhost.forward = \"11us\"\n")
	require.NoError(t, err)
	assert.Equal(t, 3, f.LossMetrics)
	assert.Equal(t, 11*sim.Microsecond, f.Host.Forward)
	assert.Equal(t, 15*sim.Microsecond, f.Host.Backward)

	short, err := loadText(t, "h100-sxm5-80gb", "host.framework = \"eager\"\n")
	require.NoError(t, err)
	assert.Equal(t, "eager", short.Name)
}

func TestFrameworkOfOnesOwn(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("frameworks/ours.toml", "preset = \"eager\"\nloss_metrics = 1\n[[variant]]\nwhen = { fp8_gpu = true }\nloss_metrics = 2\n"+
		"[[variant]]\nwhen = { fp8_gpu = true, since = \"2025-01\" }\nloss_metrics = 4\n")
	for gpu, want := range map[string]int{"a100-sxm4-80gb": 1, "h100-sxm5-80gb": 2} {
		write("job.toml", "model.preset = \"generic-1b\"\ncluster.gpu = \""+gpu+"\"\ncluster.gpus_per_node = 1\nframework.preset = \"ours\"\n")
		cfg, err := scenarios.Load(filepath.Join(dir, "job.toml"))
		require.NoError(t, err)
		assert.Equal(t, want, cfg.Framework.LossMetrics, gpu)
		cfg, err = scenarios.LoadWith(filepath.Join(dir, "job.toml"), []string{"framework.software_date=2025-02"})
		require.NoError(t, err)
		assert.Equal(t, 3*want-2, cfg.Framework.LossMetrics, gpu) // 1 and 4
	}
}

func TestFrameworksThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"host.framework = \"eager\"\nframework.preset = \"none\"\n": "is another name for framework.preset, which is given too",
		"framework.preset = \"megatron-cor-te\"\n":                  "did you mean \"megatron-core-te\"?",
		"framework.software_date = \"June 2024\"\n":                 "is not a year and month",
		"framework.layers = \"jax\"\n":                              "plain",
		"framework.host.forward = \"12\"\n":                         "framework.host.forward",
		"framework.preset = \"deepspeed\"\nmodel.experts = 8\nmodel.experts_per_token = 2\nmodel.linear_bias = false\n": "experts are modelled for",
	} {
		_, err := loadText(t, "h100-sxm5-80gb", text)
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), want, strings.TrimSpace(text))
	}
}
