package input

import "strings"

// Separator names what seems to separate the columns of a line where commas
// should, "semicolons" or "tabs", as spreadsheets write them; "" where it is
// neither.
func Separator(line string) string {
	semicolons, tabs := strings.Count(line, ";"), strings.Count(line, "\t")
	switch {
	case max(semicolons, tabs) <= strings.Count(line, ","):
		return ""
	case semicolons > tabs:
		return "semicolons"
	}
	return "tabs"
}
