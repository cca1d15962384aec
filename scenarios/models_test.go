package scenarios

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/model"
)

// published holds parameter counts of released models: the sum over their
// checkpoints' tensors, as the model hub and the named sources print it.
var published = []struct {
	preset string
	params int64
	source string
}{
	{"gpt2-124m", 124_439_808, "transformers, GPT2LMHeadModel of openai-community/gpt2"},
	{"gpt2-xl", 1_557_611_200, "transformers, GPT2LMHeadModel of openai-community/gpt2-xl"},
	{"bert-large", 335_174_458, "transformers, BertForMaskedLM of google-bert/bert-large-uncased"},
	{"llama-2-7b", 6_738_415_616, "checkpoint of meta-llama/Llama-2-7b-hf"},
	{"llama-2-13b", 13_015_864_320, "checkpoint of meta-llama/Llama-2-13b-hf"},
	{"llama-2-70b", 68_976_648_192, "checkpoint of meta-llama/Llama-2-70b-hf"},
	{"llama-3-8b", 8_030_261_248, "checkpoint of meta-llama/Meta-Llama-3-8B"},
	{"llama-3-70b", 70_553_706_496, "checkpoint of meta-llama/Meta-Llama-3-70B"},
	{"llama-3-405b", 405_853_388_800, "checkpoint of meta-llama/Llama-3.1-405B"},
	{"mistral-7b", 7_241_732_096, "checkpoint of mistralai/Mistral-7B-v0.1"},
	{"qwen2.5-7b", 7_615_616_512, "checkpoint of Qwen/Qwen2.5-7B"},
	{"qwen2.5-72b", 72_706_203_648, "checkpoint of Qwen/Qwen2.5-72B"},
	{"mixtral-8x7b", 46_702_792_704, "checkpoint of mistralai/Mixtral-8x7B-v0.1"},
	{"mixtral-8x22b", 140_620_634_112, "checkpoint of mistralai/Mixtral-8x22B-v0.1"},
	{"deepseek-v2", 235_741_434_880, "checkpoint of deepseek-ai/DeepSeek-V2"},
	{"deepseek-v2-lite", 15_706_484_224, "checkpoint of deepseek-ai/DeepSeek-V2-Lite"},
	{"qwen3-30b-a3b", 30_532_122_624, "checkpoint of Qwen/Qwen3-30B-A3B"},
	{"qwen3-235b-a22b", 235_093_634_560, "checkpoint of Qwen/Qwen3-235B-A22B"},
	{"generic-1b", 1_000_000_000, "by construction"},
}

// preset loads a model preset as a scenario does.
func preset(t *testing.T, name string) *model.Config {
	t.Helper()
	cfg, err := LoadReader(strings.NewReader("model.preset = \""+name+"\"\ncluster.preset = \"dgx-h100\"\n"),
		"test.toml", nil)
	require.NoError(t, err)
	return &cfg.Model
}

func TestParameterCountsArePublishedOnes(t *testing.T) {
	for _, p := range published {
		t.Run(p.preset, func(t *testing.T) {
			assert.Equal(t, p.params, preset(t, p.preset).Parameters(), p.source)
		})
	}
}

// TestParameterCountsOfPapers: papers print billions with one digit.
func TestParameterCountsOfPapers(t *testing.T) {
	for _, p := range []struct {
		preset   string
		billions float64
		source   string
	}{
		{"gpt3-175b", 174.6, "Brown et al. 2020, table D.1: 174,600 M"},
		{"gpt-22b", 22.0, "Korthikanti et al. 2022, table 3"},
		{"gpt-530b", 529.6, "Narayanan et al. 2021, table 1"},
		{"gpt-1t", 1008.0, "Narayanan et al. 2021, table 1"},
	} {
		t.Run(p.preset, func(t *testing.T) {
			got := float64(preset(t, p.preset).Parameters()) / 1e9
			assert.InDelta(t, p.billions, got, 0.1, p.source)
		})
	}
}

// TestParameterFormula: the closed form of Narayanan et al. 2021, section 4,
// P = 12 l h^2 (1 + 13/(12h) + (V+s)/(12 l h)), leaves out only the final norm.
func TestParameterFormula(t *testing.T) {
	for _, name := range []string{"gpt2-124m", "gpt2-xl", "gpt3-175b", "gpt-22b", "gpt-530b", "gpt-1t"} {
		m := preset(t, name)
		l, h := m.Layers, m.Hidden
		assert.Equal(t, 12*l*h*h+13*l*h+(m.Vocab+m.MaxPositions)*h+2*h, m.Parameters(), name)
	}
}
