package measured

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"trainsim/sim/gpu"
	"trainsim/sim/input"
)

// kernelRow is one record of a table of kernels.
type kernelRow struct {
	*header
	cells []string
	err   error // the first bad field
}

// maxSize bounds every count in a table, so that products stay finite.
const maxSize = 1 << 40

func (r *kernelRow) text(column string) string {
	i, ok := r.index[column]
	if !ok || i >= len(r.cells) {
		return ""
	}
	return strings.TrimSpace(r.cells[i])
}

func (r *kernelRow) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// count reads a positive whole number.
func (r *kernelRow) count(column string) int64 {
	return r.parseCount(column, r.text(column))
}

func (r *kernelRow) parseCount(name, text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > maxSize {
		r.fail("%s is %s; write a whole number of 1 or more", name, input.Quote(text))
		return 1
	}
	return n
}

// optional reads a positive whole number that may be left out.
func (r *kernelRow) optional(column string, otherwise int64) int64 {
	if r.text(column) == "" {
		return otherwise
	}
	return r.count(column)
}

// number reads a positive number.
func (r *kernelRow) number(column string) float64 {
	x, err := strconv.ParseFloat(r.text(column), 64)
	if err != nil || !(x > 0) || math.IsInf(x, 0) {
		r.fail("%s is %s; write a positive number", column, input.Quote(r.text(column)))
		return 1
	}
	return x
}

func (r *kernelRow) dtype(column string, otherwise gpu.Dtype) gpu.Dtype {
	d := otherwise
	if s := r.text(column); s != "" {
		if err := d.UnmarshalText([]byte(strings.ToLower(s))); err != nil {
			r.fail("%s: %w", column, err)
		}
	}
	return d
}

func (r *kernelRow) flag(column string) bool {
	switch s := strings.ToLower(r.text(column)); s {
	case "1", "true":
		return true
	case "", "0", "false":
	default:
		r.fail("%s is %s; write true or false", column, input.Quote(s))
	}
	return false
}
