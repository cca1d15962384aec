package input

import (
	"fmt"
	"strings"
)

// Nearest returns the candidate that a misspelt word most likely means, or ""
// when none is near: at most a third of the longer word's letters may differ. A
// candidate that goes on after the word, or begins before it, is near, too; else
// one that has the word in it.
func Nearest(word string, candidates []string) string {
	low := strings.ToLower(word)
	best, bestClose, bestWhole := "", len(word), 0
	for _, c := range candidates {
		d, whole := closeness(low, strings.ToLower(c))
		if d <= max(len(word)/3, 1) && (d < bestClose || best != "" && d == bestClose && whole < bestWhole) {
			best, bestClose, bestWhole = c, d, whole
		}
	}
	if best == "" {
		return holding(low, candidates)
	}
	return best
}

// holding returns the shortest candidate that has the word in it, whatever
// separates their parts: rtx4090-24gb for 4090 and for RTX-4090.
func holding(low string, candidates []string) string {
	bare := strings.NewReplacer("-", "", "_", "", ".", "", " ", "")
	word, best := bare.Replace(low), ""
	if len(word) < 3 {
		return ""
	}
	for _, c := range candidates {
		if strings.Contains(bare.Replace(strings.ToLower(c)), word) && (best == "" || len(c) < len(best)) {
			best = c
		}
	}
	return best
}

// closeness is the distance of a word from a candidate or, for words of four
// letters and more, from as much of its beginning or end; what is left of the
// candidate then counts as one letter. whole is the distance from all of it.
func closeness(word, candidate string) (closest, whole int) {
	whole = distance(word, candidate)
	closest = whole
	if n := len(word); n >= 4 && len(candidate) > n {
		closest = min(whole, 1+distance(word, candidate[:n]), 1+distance(word, candidate[len(candidate)-n:]))
	}
	return closest, whole
}

// distance is the number of letters to add, drop, replace or swap with their
// neighbour that turn a into b (optimal string alignment).
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return max(len(a), len(b))
	}
	var before, row []int
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row = make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev = prev, row
	}
	return prev[len(b)]
}

// DidYouMean is the hint about the nearest candidate, or about all of them when
// there are few and none is near.
func DidYouMean(word string, candidates []string) string {
	if n := Nearest(word, candidates); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	if len(candidates) <= 20 {
		return "write " + OneOf(candidates)
	}
	return fmt.Sprintf("write one of the %d known ones", len(candidates))
}

// OneOf joins names as in `"a", "b" or "c"`.
func OneOf(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%q", n)
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " or " + quoted[last]
}
