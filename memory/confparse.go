package memory

import (
	"fmt"
	"strings"

	"trainsim/sim/input"
)

// ParseConf reads the text of PYTORCH_CUDA_ALLOC_CONF, as in
// "max_split_size_mb:128,expandable_segments:True". Blanks are ignored, an
// empty text gives the defaults. The error of a setting that PyTorch would
// refuse says what to write instead.
func ParseConf(text string) (Conf, error) { return DefaultConf().With(text) }

// With returns c after the text was given to PyTorch at run time
// (torch.cuda.memory._set_allocator_settings): max_split_size_mb,
// roundup_power2_divisions and garbage_collection_threshold return to their
// defaults unless the text sets them, the other settings keep their values.
func (c Conf) With(text string) (Conf, error) {
	base := DefaultConf()
	c = c.normal()
	c.MaxSplitSize, c.Divisions, c.GCThreshold = base.MaxSplitSize, base.Divisions, base.GCThreshold
	c.text = strings.TrimSpace(text)
	p := confParser{tokens: lexConf(text)}
	for p.i < len(p.tokens) {
		if err := p.setting(&c); err != nil {
			return Conf{}, err
		}
	}
	return c.normal(), nil
}

// lexConf splits the text at , : [ and ], which are tokens themselves.
func lexConf(text string) []string {
	var tokens []string
	var word []byte
	flush := func() {
		if len(word) > 0 {
			tokens = append(tokens, string(word))
			word = word[:0]
		}
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ',', ':', '[', ']':
			flush()
			tokens = append(tokens, text[i:i+1])
		case ' ', '\t', '\n', '\r':
		default:
			word = append(word, c)
		}
	}
	flush()
	return tokens
}

type confParser struct {
	tokens []string
	i      int
	key    string // the setting that is read, "" where one should begin
}

func (p *confParser) fail(format string, args ...any) error {
	if p.key != "" {
		format = p.key + ": " + format
	}
	return fmt.Errorf(format, args...)
}

// peek returns the next token, or "" at the end.
func (p *confParser) peek() string {
	if p.i < len(p.tokens) {
		return p.tokens[p.i]
	}
	return ""
}

func (p *confParser) expect(token, after string) error {
	switch got := p.peek(); got {
	case token:
		p.i++
		return nil
	case "":
		return p.fail("the text ends after %s; write %q there", after, token)
	default:
		return p.fail("found %s after %s; write %q there", input.Quote(got), after, token)
	}
}

// setting reads one key:value and the comma behind it.
func (p *confParser) setting(c *Conf) error {
	p.key = ""
	key := p.peek()
	read, known := confKeys[key]
	if !known {
		return p.unknown(key)
	}
	p.i++
	p.key = key
	if err := p.expect(":", "the name"); err != nil {
		return err
	}
	if err := read(p, c); err != nil {
		return err
	}
	if p.i == len(p.tokens) {
		return nil
	}
	return p.expect(",", "the value")
}

func (p *confParser) unknown(key string) error {
	if strings.ContainsAny(key, ",:[]") {
		return p.fail("found %s where a setting should begin; write settings as name:value, separated by commas",
			input.Quote(key))
	}
	if near := nearestKey(key); near != "" {
		return p.fail("unknown setting %s; did you mean %q?", input.Quote(key), near)
	}
	return p.fail("unknown setting %s; the settings are %s", input.Quote(key), strings.Join(confKeyNames, ", "))
}

// nearestKey returns the setting that shares the longest beginning with key,
// or "" when that is less than half of key.
func nearestKey(key string) string {
	best, near := len(key)/2, ""
	for _, name := range confKeyNames {
		n := 0
		for n < len(name) && n < len(key) && name[n] == key[n] {
			n++
		}
		if n > best {
			best, near = n, name
		}
	}
	return near
}

var confKeyNames = []string{
	"max_split_size_mb", "max_non_split_rounding_mb", "garbage_collection_threshold", "roundup_power2_divisions",
	"expandable_segments", "backend", "release_lock_on_cudamalloc", "pinned_use_cuda_host_register",
	"pinned_num_register_threads", "pinned_use_background_threads", "pinned_reserve_segment_size_mb",
	"graph_capture_record_stream_reuse",
}

var confKeys = map[string]func(*confParser, *Conf) error{
	"max_split_size_mb": func(p *confParser, c *Conf) error { return p.megabytes(&c.MaxSplitSize) },
	"max_non_split_rounding_mb": func(p *confParser, c *Conf) error {
		return p.megabytes(&c.MaxNonSplitRounding)
	},
	"garbage_collection_threshold":      (*confParser).threshold,
	"roundup_power2_divisions":          (*confParser).divisions,
	"expandable_segments":               func(p *confParser, c *Conf) error { return p.boolean(&c.Expandable) },
	"backend":                           (*confParser).backend,
	"release_lock_on_cudamalloc":        (*confParser).flag,
	"release_lock_on_hipmalloc":         (*confParser).flag,
	"pinned_use_cuda_host_register":     (*confParser).flag,
	"pinned_use_hip_host_register":      (*confParser).flag,
	"pinned_use_background_threads":     (*confParser).flag,
	"graph_capture_record_stream_reuse": (*confParser).flag,
	"pinned_num_register_threads":       (*confParser).threads,
	"pinned_reserve_segment_size_mb":    (*confParser).pinnedSegment,
}
