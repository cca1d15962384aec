package search

import (
	"fmt"
	"strings"

	"trainsim/scenarios/keys"
	"trainsim/sim/report"
)

// maxValues bounds the values of one axis.
const maxValues = 100000

// ParseAxis reads "key=v1,v2,...". A value is whatever --set takes; commas in
// quotes and brackets do not separate. A value may also be a range, with both
// ends in it: "a..b" counts by one, "a..b+step" by a step, "a..b*factor" grows
// by a factor, as far as b. Numbers of a range may carry a unit.
func ParseAxis(text string) (report.Axis, error) {
	key, list, ok := strings.Cut(text, "=")
	a := report.Axis{Key: strings.TrimSpace(key)}
	if !ok || a.Key == "" {
		return a, fmt.Errorf("%q is not key=values; write something like schedule.microbatches=4,8,16 or "+
			"schedule.microbatches=2..64*2", text)
	}
	if err := keys.Check(a.Key); err != nil {
		return a, err
	}
	items, err := splitList(list)
	if err != nil {
		return a, fmt.Errorf("%s: %w", a.Key, err)
	}
	seen := map[string]bool{}
	for _, item := range items {
		values, err := expand(item)
		if err != nil {
			return a, fmt.Errorf("%s: %w", a.Key, err)
		}
		for _, v := range values {
			if seen[v] {
				return a, fmt.Errorf("%s: %s is there twice; write each value once", a.Key, v)
			}
			seen[v] = true
		}
		a.Values = append(a.Values, values...)
		if len(a.Values) > maxValues {
			return a, fmt.Errorf("%s: more than %d values; write fewer, or a larger step", a.Key, maxValues)
		}
	}
	return a, nil
}

// splitList cuts at the commas that stand neither in quotes nor in brackets.
func splitList(list string) ([]string, error) {
	var out []string
	var open []rune // brackets that wait for their end
	var quote rune
	start := 0
	add := func(end int) error {
		item := strings.TrimSpace(list[start:end])
		if item == "" {
			return fmt.Errorf("%q has an empty value; write values with one comma between them", list)
		}
		out = append(out, item)
		return nil
	}
	for i, r := range list {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case r == '[' || r == '{':
			open = append(open, r+2) // ']' and '}' stand two after '[' and '{'
		case len(open) > 0 && r == open[len(open)-1]:
			open = open[:len(open)-1]
		case r == ',' && len(open) == 0:
			if err := add(i); err != nil {
				return nil, err
			}
			start = i + 1
		}
	}
	if quote != 0 || len(open) > 0 {
		return nil, fmt.Errorf("%q opens a quote or bracket and does not close it", list)
	}
	return out, add(len(list))
}
