package input

import (
	"fmt"
	"strings"
)

// maxShown is how many problems an error message lists.
const maxShown = 20

// Errors is everything that is wrong with an input, sorted by position. It is the
// error type of every reading that fails, whatever the reason.
type Errors struct {
	Problems []Problem `json:"problems"`
	Dropped  int       `json:"dropped,omitempty"` // further problems, beyond the first 500
}

// Error lists up to 20 problems, each with its source line and a caret.
func (e *Errors) Error() string {
	var b strings.Builder
	for i := range e.Problems {
		if i == maxShown {
			fmt.Fprintf(&b, "... and %d more\n", len(e.Problems)-maxShown+e.Dropped)
			break
		}
		b.WriteString(e.Problems[i].String() + "\n")
		if x := e.Problems[i].Excerpt(); x != "" {
			b.WriteString(x + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// FileError is a problem with a file as a whole.
func FileError(file, format string, args ...any) *Errors {
	return &Errors{Problems: []Problem{{File: file, Text: fmt.Sprintf(format, args...)}}}
}
