package memory

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
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

// number reads a whole number that is not negative.
func (p *confParser) number(example string) (uint64, error) {
	n, err := strconv.ParseUint(p.peek(), 10, 64)
	if err != nil {
		return 0, p.fail("%q is not a whole number; write one, as in %s", p.peek(), example)
	}
	p.i++
	return n, nil
}

// megabytes reads a size in MiB of at least 20; sizes that bytes cannot
// count mean unlimited.
func (p *confParser) megabytes(to *int64) error {
	n, err := p.number(p.key + ":128")
	if err != nil {
		return err
	}
	if n < uint64(largeSegment/mib) {
		p.i--
		return p.fail("%d is too small; write a number of MiB of at least %d", n, largeSegment/mib)
	}
	*to = math.MaxInt64
	if n < uint64(math.MaxInt64/mib) {
		*to = int64(n) * mib
	}
	return nil
}

func (p *confParser) threshold(c *Conf) error {
	x, err := strconv.ParseFloat(p.peek(), 64)
	if err != nil || !(x > 0 && x < 1) {
		return p.fail("%q is not a share of the memory limit; write a number above 0.0 and below 1.0, as in 0.8", p.peek())
	}
	p.i++
	c.GCThreshold = x
	return nil
}

func (p *confParser) boolean(to *bool) error {
	switch p.peek() {
	case "True", "False":
		*to = p.peek() == "True"
		p.i++
		return nil
	}
	return p.fail("%q is not a truth value; write True or False", p.peek())
}

// flag reads a truth value that has no effect on placement.
func (p *confParser) flag(*Conf) error {
	var ignored bool
	return p.boolean(&ignored)
}

func (p *confParser) backend(c *Conf) error {
	switch p.peek() {
	case "native", "cudaMallocAsync":
		c.Backend = p.peek()
		p.i++
		return nil
	}
	return p.fail("%q is not an allocator; write native or cudaMallocAsync", p.peek())
}

func (p *confParser) threads(*Conf) error {
	n, err := p.number("pinned_num_register_threads:8")
	if err != nil {
		return err
	}
	if bits.OnesCount64(n) != 1 || n > 128 {
		p.i--
		return p.fail("%d is not a number of threads; write a power of two up to 128", n)
	}
	return nil
}

func (p *confParser) pinnedSegment(*Conf) error {
	n, err := p.number("pinned_reserve_segment_size_mb:64")
	if err == nil && n == 0 {
		p.i--
		return p.fail("0 is too small; write a number of MiB above 0")
	}
	return err
}

// divisions reads one power of two for all sizes, or a list of size:divisions.
func (p *confParser) divisions(c *Conf) error {
	if p.peek() == "[" {
		p.i++
		return p.divisionList(c)
	}
	d, err := p.division("roundup_power2_divisions:4")
	if err != nil {
		return err
	}
	if d == 0 {
		p.i--
		return p.fail("0 is not a power of two; leave the setting out to round to 512 bytes")
	}
	for i := range c.Divisions {
		c.Divisions[i] = d
	}
	return nil
}

func (p *confParser) division(example string) (int64, error) {
	n, err := p.number(example)
	if err != nil {
		return 0, err
	}
	if n != 0 && (bits.OnesCount64(n) != 1 || n > 1<<40) {
		p.i--
		return 0, p.fail("%d divisions; write a power of two, or 0 in a list to round to 512 bytes", n)
	}
	return int64(n), nil
}

// divisionList reads the entries up to the closing bracket. The first entry
// also serves all smaller sizes, ">" everything above the entry before it.
func (p *confParser) divisionList(c *Conf) error {
	last, first := 0, true
	for p.peek() != "]" {
		at, above, err := p.interval()
		if err != nil {
			return err
		}
		d, err := p.division("[256:4,512:2,>:1]")
		if err != nil {
			return err
		}
		from, to := at, at+1
		switch {
		case above:
			from, to = last+1, len(c.Divisions)
		case first:
			from, first = 0, false
		}
		for i := from; i < to; i++ {
			c.Divisions[i] = d
		}
		if !above {
			last = at
		}
		if p.peek() == "]" {
			break
		}
		if err := p.expect(",", "an entry of the list"); err != nil {
			return err
		}
	}
	p.i++
	return nil
}

// interval reads "MiB:" or ">:" and returns which bucket it means.
func (p *confParser) interval() (at int, above bool, err error) {
	switch p.peek() {
	case "":
		return 0, false, p.fail("the list is not closed; write ] at its end")
	case ">":
		p.i++
		return 0, true, p.expect(":", "the size")
	}
	n, err := p.number("[256:4,512:2,>:1]")
	if err != nil {
		return 0, false, err
	}
	if bits.OnesCount64(n) != 1 {
		p.i--
		return 0, false, p.fail("%d is not an interval; write its size in MiB as a power of two, or >", n)
	}
	at = min(bits.Len64(n)-1, len(Conf{}.Divisions)-1)
	return at, false, p.expect(":", "the size")
}
