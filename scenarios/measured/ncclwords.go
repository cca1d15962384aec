package measured

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"trainsim/interconnect/nccl"
	"trainsim/sim"
	"trainsim/sim/input"
)

// ncclWords reads how a benchmark was run: variables of NCCL as in NCCL_ALGO=Ring
// NCCL_PROTO=LL, separated by blanks, commas or semicolons, and words. What begins
// with "default" is NCCL's own choice; the names of algorithms and protocols say
// what was forced, as do "NVLS disabled" and "P2P off". The error names what would
// change the result and is not understood.
func ncclWords(text string) (nccl.Settings, error) {
	var s nccl.Settings
	variables, words := splitNCCL(text)
	noNVLS := false
	for _, v := range variables {
		if err := setNCCL(&s, &noNVLS, v); err != nil {
			return s, err
		}
	}
	low := strings.ToLower(strings.Join(words, " "))
	for _, off := range []string{"p2p off", "p2p disabled"} {
		s.P2PDisable = s.P2PDisable || strings.Contains(low, off)
		low = strings.ReplaceAll(low, off, "")
	}
	const off = "nvls disabled"
	noNVLS = noNVLS || strings.Contains(low, off)
	low, _, _ = strings.Cut(strings.ReplaceAll(low, off, ""), "(") // a remark
	if !strings.HasPrefix(strings.TrimSpace(low), "default") {
		for _, w := range strings.Fields(low) {
			if err := forced(&s, w); err != nil {
				return s, err
			}
		}
	}
	if noNVLS {
		return s, withoutNVLS(&s)
	}
	return s, nil
}

// splitNCCL parts variables from words. What follows a comma belongs to the
// variable before it if it could be one of its values, as in NCCL_ALGO=Ring,Tree.
func splitNCCL(text string) (variables, words []string) {
	tokens := strings.FieldsFunc(strings.ReplaceAll(text, ",", " ,"),
		func(r rune) bool { return unicode.IsSpace(r) || r == ';' })
	listing := false // the last token is a variable that takes a list
	for _, token := range tokens {
		after := strings.HasPrefix(token, ",")
		t := strings.TrimPrefix(token, ",")
		switch upper := strings.ToUpper(t); {
		case t == "":
			continue
		case strings.HasPrefix(upper, "NCCL_") && strings.Contains(t, "="):
			variables = append(variables, t)
			listing = strings.HasPrefix(upper, "NCCL_ALGO=") || strings.HasPrefix(upper, "NCCL_PROTO=")
		case after && listing:
			variables[len(variables)-1] += "," + t
		default:
			words, listing = append(words, t), false
		}
	}
	return variables, words
}

// forced takes the name of an algorithm or a protocol.
func forced(s *nccl.Settings, word string) error {
	if _, err := nccl.ParseAlgorithm(word); err == nil {
		s.Algo = append(s.Algo, word)
		return nil
	}
	if _, err := nccl.ParseProtocol(word); err == nil {
		s.Proto = append(s.Proto, word)
		return nil
	}
	return fmt.Errorf("%s is not understood; write default, an algorithm such as Ring, or variables such as "+
		"NCCL_PROTO=LL", input.Quote(word))
}

// Algorithms and protocols that NCCL_ALGO and NCCL_PROTO choose from.
var (
	ncclAlgorithms = []string{"Ring", "Tree", "NVLS", "NVLSTree", "PAT"}
	ncclProtocols  = []string{"LL", "LL128", "Simple"}
)

// harmless begin the names of variables that change nothing about a transfer's
// time, or only name the interfaces that it takes.
var harmless = []string{
	"NCCL_DEBUG", "NCCL_SOCKET_IFNAME", "NCCL_IB_HCA", "NCCL_IB_GID_INDEX", "NCCL_IB_TIMEOUT", "NCCL_IB_RETRY",
	"NCCL_IB_TC", "NCCL_IB_SL", "NCCL_TOPO_DUMP", "NCCL_GRAPH_DUMP", "NCCL_ASYNC_ERROR", "NCCL_TESTS",
}

// setNCCL applies one variable, NAME=VALUE.
func setNCCL(s *nccl.Settings, noNVLS *bool, variable string) (err error) {
	name, value, _ := strings.Cut(variable, "=")
	value = strings.Trim(value, `"'`)
	switch name = strings.ToUpper(name); name {
	case "NCCL_ALGO":
		s.Algo, err = ncclList(value, ncclAlgorithms)
	case "NCCL_PROTO":
		s.Proto, err = ncclList(value, ncclProtocols)
	case "NCCL_MAX_NCHANNELS", "NCCL_MAX_CTAS":
		s.MaxChannels, err = strconv.Atoi(value)
	case "NCCL_MIN_NCHANNELS", "NCCL_MIN_CTAS":
		s.MinChannels, err = strconv.Atoi(value)
	case "NCCL_BUFFSIZE":
		var n int
		n, err = strconv.Atoi(value)
		s.BuffSize = sim.Bytes(n)
	case "NCCL_P2P_LEVEL":
		s.P2PLevel = value
	case "NCCL_P2P_DISABLE":
		s.P2PDisable, err = strconv.ParseBool(value)
	case "NCCL_NVLS_ENABLE":
		*noNVLS = value == "0"
	default:
		if !slices.ContainsFunc(harmless, func(h string) bool { return strings.HasPrefix(name, h) }) {
			return fmt.Errorf("%s is not modelled; leave it or the row out", name)
		}
	}
	if err == nil {
		err = s.Validate()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", variable, err)
	}
	return nil
}

// ncclList reads a list as NCCL does: names separated by commas, or ^ and those
// that are not to be taken.
func ncclList(value string, all []string) ([]string, error) {
	not := strings.HasPrefix(value, "^")
	names := strings.Split(strings.ToLower(strings.TrimPrefix(value, "^")), ",")
	for _, n := range names {
		if !slices.ContainsFunc(all, func(a string) bool { return strings.EqualFold(a, n) }) {
			return nil, fmt.Errorf("%s is not modelled; write one of %s", input.Quote(n), strings.Join(all, ", "))
		}
	}
	if !not {
		return names, nil
	}
	left := without(all, names...)
	if len(left) == 0 {
		return nil, fmt.Errorf("leaves nothing of %s; write fewer", strings.Join(all, ", "))
	}
	return left, nil
}

// without returns the names that are not among some, in any case.
func without(all []string, some ...string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(a string) bool {
		return slices.ContainsFunc(some, func(n string) bool { return strings.EqualFold(a, n) })
	})
}

// withoutNVLS forbids the algorithms of NVLink SHARP.
func withoutNVLS(s *nccl.Settings) error {
	if len(s.Algo) == 0 {
		s.Algo = []string{"Ring", "Tree"}
		return nil
	}
	forced := strings.Join(s.Algo, ", ")
	if s.Algo = without(s.Algo, "NVLS", "NVLSTree"); len(s.Algo) == 0 {
		return fmt.Errorf("forces %s and forbids it; write one of them", forced)
	}
	return nil
}
