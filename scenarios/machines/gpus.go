package machines

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"trainsim/scenarios"
	"trainsim/sim/gpu"
	"trainsim/sim/input"
)

// builtinGPUs are the built-in devices, in the order of their names.
var builtinGPUs = sync.OnceValue(func() []*gpu.Device {
	var out []*gpu.Device
	entries, err := scenarios.List("gpus")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if d, err := scenarios.LoadGPU(e.Name); err == nil {
			out = append(out, d)
		}
	}
	return out
})

// FindGPU returns the built-in device that a table of measurements means by a
// name: a preset's name or one of its aliases, or the beginning of one where
// that, or a remark in parentheses, tells it from the others.
func FindGPU(name string) (*gpu.Device, error) {
	for _, d := range builtinGPUs() {
		if d.Is(name) {
			return d, nil
		}
	}
	var short []*gpu.Device
	for _, d := range builtinGPUs() {
		if Means(d, name) {
			short = append(short, d)
		}
	}
	if len(short) > 1 {
		short = remarked(short, name)
	}
	switch n := len(short); n {
	case 0:
		return nil, fmt.Errorf("there is no gpu preset for %s; name one (trainsim list gpus)", input.Quote(name))
	case 1:
		return short[0], nil
	default:
		names := make([]string, n)
		for i, d := range short {
			names[i] = d.Name
		}
		return nil, fmt.Errorf("%s may be %s or %s; name a gpu preset", input.Quote(name),
			strings.Join(names[:n-1], ", "), names[n-1])
	}
}

// remarked returns the devices that most words of a name's remark in
// parentheses fit, as in "A100 (SXM4-80GB)": all of them where none fits.
func remarked(all []*gpu.Device, name string) []*gpu.Device {
	_, remark, _ := strings.Cut(name, "(")
	words := wordsOf(socket.ReplaceAllString(strings.ToLower(remark), "sxm"))
	var best []*gpu.Device
	most := 0
	for _, d := range all {
		n := 0
		for _, full := range append([]string{d.Name}, d.Aliases...) {
			n = max(n, fitting(words, strings.TrimPrefix(shortName(full), shortName(name))))
		}
		if n > most {
			best, most = nil, n
		}
		if n == most {
			best = append(best, d)
		}
	}
	return best
}

// fitting counts the words, of three letters and more, that a name holds.
func fitting(words []string, name string) int {
	n := 0
	for _, w := range words {
		if len(w) >= 3 && strings.Contains(name, w) {
			n++
		}
	}
	return n
}

// wordsOf splits a description into lower-case words and numbers.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) &&
			!unicode.IsDigit(r)
	})
}

// Means reports whether a name that may be shortened stands for a device.
func Means(d *gpu.Device, name string) bool {
	short := shortName(name)
	if len(short) < 2 {
		return false
	}
	for _, full := range append([]string{d.Name}, d.Aliases...) {
		if strings.HasPrefix(shortName(full), short) {
			return true
		}
	}
	return false
}

var socket = regexp.MustCompile(`sxm\d\b`)

// shortName is a GPU's name without case, separators, the maker, remarks in
// parentheses and the generation of its socket.
func shortName(name string) string {
	name, _, _ = strings.Cut(strings.ToLower(name), "(")
	name = socket.ReplaceAllString(name, "sxm")
	return strings.NewReplacer(" ", "", "-", "", "_", "", "nvidia", "").Replace(name)
}
