package scenarios

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"sort"
	"strconv"
	"strings"

	"trainsim/scenarios/keys"
	"trainsim/sim/input"
	"trainsim/sim/model"
)

// maxConfigSeq caps the sequence length that a Hugging Face config implies:
// many allow contexts far beyond what they were trained on.
const maxConfigSeq = 4096

// hfConfig is a config.json: its fields with their places, and what is wrong.
type hfConfig struct {
	src    *input.Source
	out    *input.Problems
	prefix string // of field names, for a config inside another one
	fields map[string]hfField
}

type hfField struct {
	raw json.RawMessage
	at  input.Span
}

// ParseHF reads a Hugging Face config.json (file names it in errors) of the
// Llama, Mistral, Mixtral, Qwen2, Qwen3 (with and without experts), DeepSeek-V2
// and V3, Gemma, Phi-3, GPT-2, GPT-NeoX, OPT, BLOOM and BERT families. What the model cannot express is an [*input.Errors] that names the
// field. The sequence length is the config's, at most 4096.
func ParseHF(file string, text []byte) (*model.Config, error) {
	var out input.Problems
	m := parseHF(&input.Source{Name: file, Text: text}, &out)
	if err := out.Err(); err != nil {
		return nil, err
	}
	return m, nil
}

func parseHF(src *input.Source, out *input.Problems) *model.Config {
	h := &hfConfig{src: src, out: out}
	if text := notText(src.Text); text != "" {
		out.AddFile(src, text)
		return nil
	}
	if h.fields = h.object(src.Text, 0); h.fields == nil {
		return nil
	}
	family, kind := h.family()
	if family == nil {
		return nil
	}
	m := &model.Config{Attention: model.Flash, FinalNorm: true}
	family(h, m)
	h.finish(m, kind)
	return m
}

// object reads the fields of a JSON object that begins at an offset.
func (h *hfConfig) object(text []byte, base int) map[string]hfField {
	d := json.NewDecoder(bytes.NewReader(text))
	fields := map[string]hfField{}
	t, err := d.Token()
	if err == nil && t != json.Delim('{') {
		h.out.Add(h.src.Span(base, base), "", "is not a JSON object; write the config.json of a Hugging Face model")
		return nil
	}
	for err == nil && d.More() {
		var key json.Token
		if key, err = d.Token(); err != nil {
			break
		}
		end := base + int(d.InputOffset())
		var f hfField
		if err = d.Decode(&f.raw); err == nil {
			name := fmt.Sprint(key)
			f.at = h.src.Span(max(end-len(name)-2, base), end)
			fields[name] = f
		}
	}
	if err == nil {
		_, err = d.Token()
	}
	if err != nil {
		at := base + int(d.InputOffset())
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at = base + max(int(syntax.Offset)-1, 0)
		}
		h.out.Add(h.src.Span(at, at), "", "is not JSON: %v; write the config.json of a Hugging Face model", err)
		return nil
	}
	return fields
}

// fail reports a field.
func (h *hfConfig) fail(field, format string, args ...any) {
	at := h.src.Span(0, 0)
	if f, ok := h.fields[field]; ok {
		at = f.at
	}
	h.out.Add(at, h.prefix+field, format, args...)
}

// has returns the first of the names that the config gives a value.
func (h *hfConfig) has(names ...string) (string, bool) {
	for _, n := range names {
		if f, ok := h.fields[n]; ok && string(f.raw) != "null" {
			return n, true
		}
	}
	return names[0], false
}

// count returns a whole number from the first of the names that is there; key
// is the key of [model] that it becomes. A missing one is an error.
func (h *hfConfig) count(key string, names ...string) int64 {
	name, ok := h.has(names...)
	if !ok {
		h.fail(name, "is missing; it is needed for %s", key)
		return 0
	}
	return h.number(key, name)
}

// countOr is count with a value for a missing field.
func (h *hfConfig) countOr(def int64, key string, names ...string) int64 {
	if name, ok := h.has(names...); ok {
		return h.number(key, name)
	}
	return def
}

func (h *hfConfig) number(key, name string) int64 {
	raw := string(h.fields[name].raw)
	k, _ := keys.Find("model." + key)
	x, err := strconv.ParseFloat(raw, 64)
	switch {
	case err != nil:
		h.fail(name, "%s is not a number", clip(raw))
	case x != math.Trunc(x):
		h.fail(name, "%s is not a whole number", clip(raw))
	case x < 1 || x > k.Max:
		h.fail(name, "%s is out of range; it becomes %s, a number from 1 to %s", clip(raw), key, strconv.FormatFloat(k.Max, 'f', -1, 64))
	default:
		return int64(x)
	}
	return 0
}

// flag returns a boolean field, def when it is missing.
func (h *hfConfig) flag(name string, def bool) bool {
	if _, ok := h.has(name); !ok {
		return def
	}
	switch string(h.fields[name].raw) {
	case "true":
		return true
	case "false":
		return false
	}
	h.fail(name, "%s is not true or false", clip(string(h.fields[name].raw)))
	return def
}

// word returns a string field, def when it is missing.
func (h *hfConfig) word(def string, names ...string) string {
	name, ok := h.has(names...)
	if !ok {
		return def
	}
	var s string
	if json.Unmarshal(h.fields[name].raw, &s) != nil {
		h.fail(name, "%s is not a string", clip(string(h.fields[name].raw)))
		return def
	}
	return s
}

// want reports a flag that must have a value for the model to be expressible.
func (h *hfConfig) want(name string, value, def bool, why string) {
	if h.flag(name, def) != value {
		h.fail(name, "%v is not modelled: %s", !value, why)
	}
}

// activation sets the kind of feed-forward block from the activation function.
func (h *hfConfig) activation(m *model.Config, kinds map[string]model.MLP, def string, names ...string) {
	name, _ := h.has(names...)
	act := h.word(def, names...)
	kind, ok := kinds[act]
	if !ok {
		known := make([]string, 0, len(kinds))
		for k := range kinds {
			known = append(known, k)
		}
		sort.Strings(known)
		h.fail(name, "%q is not an activation of this family here; %s", clip(act), input.DidYouMean(act, known))
	}
	m.MLP = kind
}

func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}

// family finds the reader of the config's model_type.
func (h *hfConfig) family() (func(*hfConfig, *model.Config), string) {
	kind := h.word("", "model_type")
	if inner, ok := h.fields["text_config"]; ok && (kind == "gemma3" || hfFamilies[kind] == nil) {
		text := h.object(inner.raw, h.offsetOfValue(inner))
		if text == nil {
			return nil, ""
		}
		h.prefix, h.fields = "text_config.", text
		kind = h.word(kind, "model_type")
	}
	f := hfFamilies[kind]
	if f == nil {
		what := fmt.Sprintf("%q is no family that can be read", clip(kind))
		if kind == "" {
			what = "is missing"
		}
		h.fail("model_type", "%s; known are %s; for another model write its widths under [model]", what, strings.Join(hfKinds(), ", "))
	}
	return f, kind
}

// offsetOfValue finds where the value of a field begins.
func (h *hfConfig) offsetOfValue(f hfField) int {
	if i := bytes.Index(h.src.Text[f.at.End:], f.raw); i >= 0 {
		return f.at.End + i
	}
	return f.at.End
}

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

// hfConfig lays the Hugging Face config that the scenario names under [model].
func (l *loader) hfConfig() {
	t := l.root.table("model")
	n := l.word(t, "model", "hf_config")
	if n == nil {
		return
	}
	text := l.text(n, "model.hf_config", "a config.json")
	if text == nil {
		l.dec.bad["model"] = true
		return
	}
	l.sources++
	before := l.out.Len()
	m := parseHF(&input.Source{Name: l.beside(n), Text: text, Order: l.sources}, &l.out)
	if m == nil || l.out.Len() > before {
		l.dec.bad["model"] = true
		return
	}
	tree := treeOf(reflect.ValueOf(*m))
	tree.place(n.at)
	tree.mark()
	t.layUnder(tree)
}
