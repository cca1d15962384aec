package input

import "strconv"

// maxShownText is how many characters of a piece of an input an error shows.
const maxShownText = 60

// Quote quotes a piece of an input for an error, as much of it as Clip leaves.
func Quote(s string) string { return strconv.Quote(Clip(s)) }

// Clip returns a piece of an input for an error: of a long one its beginning and
// an ellipsis.
func Clip(s string) string {
	n, cut := 0, 0
	for i := range s {
		switch n {
		case maxShownText - 1:
			cut = i
		case maxShownText:
			return s[:cut] + "…"
		}
		n++
	}
	return s
}
