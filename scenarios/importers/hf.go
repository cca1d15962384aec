package importers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"trainsim/sim/input"
	"trainsim/sim/model"
)

func init() {
	register(&Importer{Name: "Hugging Face", Key: "model.hf_config", What: "a config.json", Recognises: isHF,
		Read: readHF})
}

// maxConfigSeq caps the sequence length that a Hugging Face config implies:
// many allow contexts far beyond what they were trained on.
const maxConfigSeq = 4096

// hfConfig is a config.json of a Hugging Face model.
type hfConfig struct{ object }

// isHF reports whether a text has what every config.json has.
func isHF(text []byte) bool {
	var c struct {
		ModelType *string `json:"model_type"`
	}
	err := json.NewDecoder(bytes.NewReader(text)).Decode(&c) // what stands behind it is readHF's to refuse
	return err == nil && c.ModelType != nil
}

// readHF reads the model of the Llama, Mistral, Mixtral, Qwen2, Qwen3 (with and
// without experts), DeepSeek-V2 and V3, Gemma, Phi-3, GPT-2, GPT-NeoX, OPT, BLOOM
// and BERT families. The sequence length is the config's, at most 4096.
func readHF(src *input.Source, out *input.Problems) []Setting {
	h := &hfConfig{object{src: src, out: out, what: "the config.json of a Hugging Face model"}}
	if h.fields = h.read(src.Text, 0); h.fields == nil {
		return nil
	}
	family, kind := h.family()
	if family == nil {
		return nil
	}
	m := &model.Config{Attention: model.Flash, FinalNorm: true}
	family(h, m)
	h.finish(m, kind)
	return []Setting{{Key: "model", Value: *m}}
}

// hfFamilies gives the reader of each model_type. The field names and the
// values of missing fields are those of transformers' configuration classes.
var hfFamilies = map[string]func(*hfConfig, *model.Config){
	"llama":       readLlama,
	"mistral":     readLlama,
	"mixtral":     readMixtral,
	"qwen2_moe":   readQwen2MoE,
	"qwen3_moe":   readQwen3MoE,
	"deepseek_v2": readDeepSeek,
	"deepseek_v3": readDeepSeek,
	"qwen2":       readQwen2,
	"qwen3":       readQwen3,
	"gemma":       readGemma,
	"gemma2":      readGemma2,
	"gemma3_text": readGemma3,
	"phi3":        readPhi3,
	"gpt2":        readGPT2,
	"gpt_neox":    readNeoX,
	"opt":         readOPT,
	"bloom":       readBLOOM,
	"bert":        readBERT,
}

// family finds the reader of the config's model_type.
func (h *hfConfig) family() (func(*hfConfig, *model.Config), string) {
	kind := h.word("", "model_type")
	if inner, ok := h.fields["text_config"]; ok && (kind == "gemma3" || hfFamilies[kind] == nil) {
		text := h.read(inner.raw, h.offsetOfValue(inner))
		if text == nil {
			return nil, ""
		}
		h.prefix, h.fields = "text_config.", text
		kind = h.word(kind, "model_type")
	}
	f := hfFamilies[kind]
	if f == nil {
		what := fmt.Sprintf("%s is no family that can be read", input.Quote(kind))
		if kind == "" {
			what = "is missing"
		}
		h.fail("model_type", "%s; known are %s; for another model write its widths under [model]", what,
			strings.Join(hfKinds(), ", "))
	}
	return f, kind
}

// hfKinds are the model types that can be read, sorted.
func hfKinds() []string {
	out := make([]string, 0, len(hfFamilies))
	for k := range hfFamilies {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// finish fills in what all families share and checks the result.
func (h *hfConfig) finish(m *model.Config, kind string) {
	m.Name = h.word(kind, "_name_or_path")
	if i := strings.LastIndexByte(strings.TrimRight(m.Name, "/"), '/'); i >= 0 {
		m.Name = strings.TrimRight(m.Name, "/")[i+1:]
	}
	if m.Name == "" {
		m.Name = kind
	}
	m.SeqLen = h.countOr(2048, "max_positions", "seq_length", "max_position_embeddings", "n_positions", "n_ctx")
	m.SeqLen = min(m.SeqLen, maxConfigSeq)
	if h.out.Len() > 0 {
		return
	}
	m.Complete()
	for _, p := range input.Each(m.Validate()) {
		h.out.Add(h.src.Span(0, 0), "", "describes no transformer: %s: %s", p.Key, p.Text)
	}
}
