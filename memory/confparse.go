package memory

import (
	"fmt"
	"strings"
)

// ConfError is a setting that PyTorch would refuse.
type ConfError struct {
	Key     string // the setting, empty when the text has no setting at the place
	Offset  int    // byte offset in the text
	Problem string // what is wrong and what to write instead
}

// Error names the setting and says what to write instead.
func (e *ConfError) Error() string {
	if e.Key == "" {
		return e.Problem
	}
	return e.Key + ": " + e.Problem
}

// ParseConf reads the text of PYTORCH_CUDA_ALLOC_CONF, as in
// "max_split_size_mb:128,expandable_segments:True". Blanks are ignored, an
// empty text gives the defaults. The error is a *[ConfError].
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
	p := confParser{tokens: lexConf(text), end: len(text)}
	for p.i < len(p.tokens) {
		if err := p.setting(&c); err != nil {
			return Conf{}, err
		}
	}
	return c.normal(), nil
}

type confToken struct {
	text   string
	offset int
}

// lexConf splits the text at , : [ and ], which are tokens themselves.
func lexConf(text string) []confToken {
	var tokens []confToken
	var word []byte
	start := 0
	flush := func() {
		if len(word) > 0 {
			tokens = append(tokens, confToken{string(word), start})
			word = word[:0]
		}
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ',', ':', '[', ']':
			flush()
			tokens = append(tokens, confToken{text[i : i+1], i})
		case ' ', '\t', '\n', '\r':
		default:
			if len(word) == 0 {
				start = i
			}
			word = append(word, c)
		}
	}
	flush()
	return tokens
}

type confParser struct {
	tokens []confToken
	i      int
	end    int
	key    string
}

func (p *confParser) fail(format string, args ...any) error {
	offset := p.end
	if p.i < len(p.tokens) {
		offset = p.tokens[p.i].offset
	}
	return &ConfError{Key: p.key, Offset: offset, Problem: fmt.Sprintf(format, args...)}
}

// peek returns the next token, or "" at the end.
func (p *confParser) peek() string {
	if p.i < len(p.tokens) {
		return p.tokens[p.i].text
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
		return p.fail("found %q after %s; write %q there", got, after, token)
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
		return p.fail("found %q where a setting should begin; write settings as name:value, separated by commas", key)
	}
	if near := nearestKey(key); near != "" {
		return p.fail("unknown setting %q; did you mean %q?", key, near)
	}
	return p.fail("unknown setting %q; the settings are %s", key, strings.Join(confKeyNames, ", "))
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
	"max_split_size_mb":                 func(p *confParser, c *Conf) error { return p.megabytes(&c.MaxSplitSize) },
	"max_non_split_rounding_mb":         func(p *confParser, c *Conf) error { return p.megabytes(&c.MaxNonSplitRounding) },
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
