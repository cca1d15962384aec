package text

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"trainsim/sim/report"
	"trainsim/sim/report/quantity"
)

// maxKeysATable is how many differing keys of one table the text lists unless
// it is to be verbose: devices differ in all of their figures.
const maxKeysATable = 12

// unlisted are settings that always differ and say nothing.
var unlisted = []string{"name", "description"}

// Comparison prints what differs in the settings and all results, a column a
// report.
func Comparison(w io.Writer, c *report.Comparison, verbose bool) error {
	var b strings.Builder
	b.WriteString("What differs in the settings\n")
	table(&b, func(w io.Writer) { writeSettings(w, c, verbose) })
	fmt.Fprintf(&b, "\nResults (times of a part of the step are means over the stages; "+
		"in brackets, times the baseline, %s)\n", c.Baseline)
	table(&b, func(w io.Writer) { writeResults(w, c) })
	if i := slices.IndexFunc(c.Results, func(r report.ResultDiff) bool { return r.Key == "samples" }); i >= 0 &&
		len(slices.Compact(slices.Clone(c.Results[i].Values))) > 1 {
		b.WriteString("The global batches differ: compare the time of a sample, not of a step.\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeHead(w io.Writer, c *report.Comparison, first string) {
	fmt.Fprintf(w, "%s\t", first)
	for _, n := range c.Names {
		fmt.Fprintf(w, "%s\t", n)
	}
	fmt.Fprintln(w)
}

func writeSettings(w io.Writer, c *report.Comparison, verbose bool) {
	writeHead(w, c, "key")
	listed, left := map[string]int{}, map[string]int{}
	var order []string
	for _, s := range c.Settings {
		top, _, _ := strings.Cut(s.Key, ".")
		if slices.Contains(unlisted, s.Key) {
			continue
		}
		if listed[top]++; listed[top] > maxKeysATable && !verbose {
			if left[top]++; left[top] == 1 {
				order = append(order, top)
			}
			continue
		}
		fmt.Fprintf(w, "%s\t", s.Key)
		for _, v := range s.Values {
			fmt.Fprintf(w, "%s\t", settingText(v))
		}
		fmt.Fprintln(w)
	}
	for _, top := range order {
		fmt.Fprintf(w, "%s: %d more\t\n", top, left[top])
	}
	if len(listed) == 0 {
		fmt.Fprintln(w, "nothing\t")
	}
}

// settingText is a value as the scenario file has it, shortened.
func settingText(v json.RawMessage) string {
	text := strings.ReplaceAll(string(v), "\n", " ")
	if text == "null" {
		return "-"
	}
	if r := []rune(text); len(r) > 40 {
		text = string(r[:37]) + "..."
	}
	return text
}

// writeResults leaves out what is 0 everywhere.
func writeResults(w io.Writer, c *report.Comparison) {
	baseline := slices.Index(c.Names, c.Baseline)
	writeHead(w, c, "result")
	for i := range c.Results {
		r := &c.Results[i]
		if !slices.ContainsFunc(r.Values, func(v float64) bool { return v != 0 }) {
			continue
		}
		fmt.Fprintf(w, "%s\t", r.Key)
		for k, v := range r.Values {
			cell := show(r.Measure, v)
			if ratio := r.Ratios[k]; k != baseline && ratio != nil {
				cell += fmt.Sprintf(" (%.3f)", *ratio)
			}
			fmt.Fprintf(w, "%s\t", cell)
		}
		fmt.Fprintln(w)
	}
}

// show writes a value by what it counts: counts whole, rates with a decimal.
func show(m report.Measure, x float64) string {
	switch m {
	case report.Seconds:
		return quantity.Seconds(x)
	case report.Share:
		return fmt.Sprintf("%.1f %%", 100*x)
	case report.Bytes:
		return fmt.Sprintf("%.1f GiB", x/(1<<30))
	}
	if x == math.Trunc(x) {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'f', 1, 64)
}
