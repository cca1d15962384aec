package search

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
)

// number is how the numbers of a range are written: decimal, with or without a
// unit. More digits than any quantity has are no number.
const number = `([-+]?[0-9]{1,18}(?:\.[0-9]{1,18})?)([A-Za-z][A-Za-z/]{0,11})?`

var (
	rangeStart = regexp.MustCompile(`^` + number + `\.\.`)
	rangeForm  = regexp.MustCompile(`^` + number + `\.\.` + number + `(?:([*+])` + number + `)?$`)
)

// expand returns the values of one item of a list: those of a range, or the
// item itself.
func expand(item string) ([]string, error) {
	if !rangeStart.MatchString(item) {
		return []string{item}, nil
	}
	m := rangeForm.FindStringSubmatch(item)
	if m == nil {
		return nil, fmt.Errorf("%q is not a range; write 2..8, 2..64*2 or 4..32+4", item)
	}
	r := progression{unit: m[2], by: '+', step: big.NewRat(1, 1)}
	r.from, r.to = decimal(m[1]), decimal(m[3])
	if m[4] != m[2] {
		return nil, fmt.Errorf("%q: the ends of a range have different units; write one unit at both", item)
	}
	if m[5] != "" {
		r.by, r.step = m[5][0], decimal(m[6])
		if m[7] != "" && (m[7] != m[2] || r.by == '*') {
			return nil, fmt.Errorf("%q: the step has another unit than the ends; write a bare number", item)
		}
	}
	values, reason := r.values()
	if reason != "" {
		return nil, fmt.Errorf("%q: %s", item, reason)
	}
	return values, nil
}

// decimal reads a number that matched; it is exact, so that 0.7..0.9+0.1 ends
// with 0.9.
func decimal(text string) *big.Rat {
	r, _ := new(big.Rat).SetString(text)
	return r
}

// progression is a range.
type progression struct {
	from, to, step *big.Rat
	by             byte // '+' or '*'
	unit           string
}

// values lists the range, or says why it cannot be.
func (p *progression) values() (out []string, reason string) {
	one := big.NewRat(1, 1)
	switch {
	case p.from.Cmp(p.to) > 0:
		return nil, "the range runs backwards; write the smaller end first"
	case p.by == '+' && p.step.Sign() <= 0:
		return nil, "the step is not positive; write +1 or more"
	case p.by == '*' && p.step.Cmp(one) <= 0:
		return nil, "the factor does not grow; write *2 or another factor above 1"
	case p.by == '*' && p.from.Sign() <= 0:
		return nil, "a range that grows by a factor starts above 0"
	}
	for at := new(big.Rat).Set(p.from); at.Cmp(p.to) <= 0; {
		if len(out) == maxValues || p.by == '*' && len(out) == 1000 {
			return nil, "has too many values; write a larger step"
		}
		out = append(out, plainDecimal(at)+p.unit)
		if p.by == '*' {
			at.Mul(at, p.step)
		} else {
			at.Add(at, p.step)
		}
	}
	return out, ""
}

// plainDecimal writes an exact decimal without trailing zeros.
func plainDecimal(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	digits, _ := r.FloatPrec()
	return strings.TrimRight(r.FloatString(digits), "0")
}
