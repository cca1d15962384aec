package input

import (
	"strconv"
	"strings"
)

// Divisors lists the divisors of a count for a message, small ones first: up to
// twelve, none above 4096.
func Divisors(n int) string {
	var out []string
	for d := 1; d <= min(n, 4096) && len(out) < 12; d++ {
		if n%d == 0 {
			out = append(out, strconv.Itoa(d))
		}
	}
	return strings.Join(out, ", ")
}
