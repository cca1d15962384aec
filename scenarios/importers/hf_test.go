package importers

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/scenarios/keys"
	"trainsim/sim/model"
)

// parseHF returns the model of a config.json.
func parseHF(name string, text []byte) (*model.Config, error) {
	said, err := Recognise([]byte(`{"model_type": "llama"}`)).Parse(name, text)
	if err != nil {
		return nil, err
	}
	m := said[0].Value.(model.Config)
	return &m, nil
}

func TestHuggingFaceConfigs(t *testing.T) {
	for file, params := range map[string]int64{
		"llama-3.1-8b":      8_030_261_248,
		"llama-3.2-1b":      1_235_814_400,
		"mistral-7b-v0.1":   7_241_732_096,
		"qwen2.5-0.5b":      494_032_768,
		"qwen2.5-7b":        7_615_616_512,
		"qwen3-8b":          8_190_735_360,
		"gemma-7b":          8_537_680_896,
		"gemma-2-9b":        9_241_705_984,
		"gemma-3-1b":        999_885_952,
		"gemma-3-4b":        3_880_263_168, // the text model of 4,300,079,472 with its vision tower and projector
		"phi-3-mini-4k":     3_821_079_552,
		"gpt2-medium":       354_823_168,
		"gpt-neox-20b":      20_554_567_680,
		"pythia-6.9b":       6_857_302_016,
		"opt-1.3b":          1_315_758_080,
		"bloom-7b1":         7_069_016_064,
		"bert-base-uncased": 109_514_298,
		"mixtral-8x7b":      46_702_792_704,
		"deepseek-v2-lite":  15_706_484_224,
		"deepseek-v3":       671_026_404_352, // 671,026,419,200 with the router's biases, which no gradient moves
		"qwen3-30b-a3b":     30_532_122_624,
		"qwen1.5-moe-a2.7b": 14_315_784_192,
	} {
		t.Run(file, func(t *testing.T) {
			text, err := os.ReadFile("../testdata/hf/" + file + ".json")
			require.NoError(t, err)
			m, err := parseHF(file, text)
			require.NoError(t, err)
			assert.Equal(t, params, m.Parameters())
		})
	}
}

func TestImportersKnowTheirFiles(t *testing.T) {
	for _, i := range All() {
		_, documented := keys.Find(i.Key)
		assert.True(t, documented, "%s has no entry in the table of keys", i.Key)
		table, key, _ := strings.Cut(i.Key, ".")
		assert.Contains(t, keys.Extra(table), key)
	}
	text, err := os.ReadFile("../testdata/hf/llama-3.1-8b.json")
	require.NoError(t, err)
	require.NotNil(t, Recognise(text))
	assert.Equal(t, "Hugging Face", Recognise(text).Name)
	for _, other := range []string{"", "{}", `{"train_batch_size": 8}`, "[model]\nlayers = 2\n", `["model_type"]`} {
		assert.Nil(t, Recognise([]byte(other)), other)
	}
}

// What stands behind the object is refused where it stands.
func TestConfigEndsWhereItEnds(t *testing.T) {
	text, err := os.ReadFile("../testdata/hf/bloom-7b1.json")
	require.NoError(t, err)
	text = append(bytes.TrimSpace(text), " \n"...)
	_, err = parseHF("config.json", text)
	require.NoError(t, err)
	line := 1 + bytes.Count(text, []byte("\n"))
	for _, behind := range []string{"  garbage", "  {}", "  }"} {
		all := append(bytes.Clone(text), behind...)
		assert.NotNil(t, Recognise(all))
		_, err = parseHF("config.json", all)
		assert.ErrorContains(t, err, fmt.Sprintf("config.json:%d:3: more stands behind the JSON object", line))
	}
}

func ExampleRecognise() {
	text := []byte(`{"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
		"vocab_size": 1000, "intermediate_size": 256}`)
	said, err := Recognise(text).Parse("config.json", text)
	if err != nil {
		panic(err)
	}
	m := said[0].Value.(model.Config)
	fmt.Println(said[0].Key, m.Name, m.Parameters())
	// Output: model llama 259392
}

// FuzzHFConfig: no text makes the reader panic, and what is accepted describes
// a transformer with parameters.
func FuzzHFConfig(f *testing.F) {
	files, err := filepath.Glob("../testdata/hf/*.json")
	require.NoError(f, err)
	require.NotEmpty(f, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := parseHF("config.json", text)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		require.NoError(t, m.Validate())
		require.Positive(t, m.Parameters())
	})
}
