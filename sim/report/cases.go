package report

import "fmt"

// Case is a run under a name, one of several that are set side by side. Its
// recording, or its report, may be missing.
type Case struct {
	Name string
	Run
}

// Cases gives each run its scenario's name or, where it has none or shares it, the
// one that it is known by otherwise, with a number where that is the same, too.
func Cases(runs []*Run, otherwise []string) []Case {
	cases := make([]Case, len(runs))
	count := map[string]int{}
	for i, run := range runs {
		cases[i] = Case{Name: run.Report.Name(), Run: *run}
		if cases[i].Name == "" {
			cases[i].Name = otherwise[i]
		}
		count[cases[i].Name]++
	}
	seen := map[string]int{}
	for i := range cases {
		if count[cases[i].Name] > 1 {
			cases[i].Name = otherwise[i]
		}
		if seen[cases[i].Name]++; seen[cases[i].Name] > 1 {
			cases[i].Name = fmt.Sprintf("%s (%d)", cases[i].Name, seen[cases[i].Name])
		}
	}
	return cases
}
