package bench

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// ParseSizes reads 1K..1G (powers of two between, both ends included) or a
// list.
func ParseSizes(text string) ([]int64, error) {
	from, to, isRange := strings.Cut(text, "..")
	if !isRange {
		var sizes []int64
		for _, part := range strings.Split(text, ",") {
			size, err := parseSize(part)
			if err != nil {
				return nil, err
			}
			sizes = append(sizes, size)
		}
		return sizes, nil
	}
	low, err := parseSize(from)
	if err != nil {
		return nil, err
	}
	to, by, scaled := strings.Cut(to, "*")
	factor := int64(2)
	if scaled {
		if factor, err = strconv.ParseInt(by, 10, 64); err != nil || factor < 2 || factor > maxSize {
			return nil, fmt.Errorf("*%s is no factor; write one from 2 on, as in 1K..1G*4", by)
		}
	}
	high, err := parseSize(to)
	if err != nil {
		return nil, err
	}
	if low > high {
		return nil, fmt.Errorf("%s is above %s; write the smaller first", from, to)
	}
	var sizes []int64
	for s := low; s <= high; s *= factor {
		sizes = append(sizes, s)
		if s > high/factor {
			break // what follows is above, or above what an int64 holds
		}
	}
	return sizes, nil
}

// maxSize is the largest size of a collective: 1 PiB.
const maxSize = 1 << 50

// parseSize reads a size as nccl-tests does: 64K, 1M, 2G, powers of 1024.
func parseSize(text string) (int64, error) {
	s := strings.TrimSpace(text)
	upper := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(s), "B"), "I")
	shift := 0
	if n := len(upper); n > 0 {
		if i := strings.IndexByte("KMGT", upper[n-1]); i >= 0 {
			shift, upper = 10*(i+1), upper[:n-1]
		}
	}
	x, err := strconv.ParseInt(strings.TrimSpace(upper), 10, 64)
	if err != nil || x < 1 || bits.Len64(uint64(x))+shift > 51 || x<<shift > maxSize {
		return 0, fmt.Errorf("%q is no size; write something like 64K, 16M or 1G", s)
	}
	return x << shift, nil
}

// parseRanks reads a list of ranks and ranges of them, as in 0-3,8.
func parseRanks(text string) ([]int, error) {
	var out []int
	for _, part := range strings.Split(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(low)
		b := a
		if err == nil && isRange {
			b, err = strconv.Atoi(high)
		}
		if err != nil || a < 0 || b < a || b-a > 1<<20 {
			return nil, fmt.Errorf("%q are no ranks; write something like 0-3,8", text)
		}
		for r := a; r <= b; r++ {
			out = append(out, r)
		}
	}
	return out, nil
}
