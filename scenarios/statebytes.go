package scenarios

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"trainsim/sim/gpu"
	"trainsim/sim/input"
	"trainsim/sim/step"
)

// StateBytes is one figure of a table of what training keeps for its
// parameters: weights, gradients and Adam's states on one rank.
type StateBytes struct {
	ID, Family string
	// Stated is the table's figure and Computed the model's, bytes. Where the
	// two agree to the digits that the table prints, they are equal.
	Stated, Computed int64
	Skipped          string
}

// stateTable is one of the tables: its columns decide which.
type stateTable struct {
	columns []string
	read    func(*runRow) []StateBytes
}

var stateTables = []stateTable{
	{[]string{"param_dtype", "grad_dtype", "bytes_per_param_plain", "bytes_per_param_dist_optimizer"}, (*runRow).bytesPerParameter},
	{[]string{"params_b", "dp", "stage1_gb", "stage2_gb", "stage3_gb"}, (*runRow).zeroStages},
}

func stateTableOf(header []string) *stateTable {
	h := newHeader(header)
	for i := range stateTables {
		missing := 0
		for _, c := range stateTables[i].columns {
			if _, ok := h.index[c]; !ok {
				missing++
			}
		}
		if missing == 0 {
			return &stateTables[i]
		}
	}
	return nil
}

// IsStateBytes reports whether a CSV header is that of a table of state bytes.
func IsStateBytes(header []string) bool { return stateTableOf(header) != nil }

// ReadStateBytes reads a table of bytes a parameter by number formats, plain and
// under the distributed optimizer (as in "4 + 16/d" for d replicas), or one of
// ZeRO's stages by parameters (billions) and replicas (GB of 10^9 bytes, mixed
// precision with Adam). Every figure of a row is one of the result.
func ReadStateBytes(r io.Reader, name string) ([]StateBytes, error) {
	c := csv.NewReader(r)
	c.FieldsPerRecord = -1
	record, err := c.Read()
	if err != nil {
		return nil, csvError(name, err)
	}
	t := stateTableOf(record)
	if t == nil {
		return nil, fileError(name, "is no table of state bytes; write the columns %s", strings.Join(stateTables[0].columns, ", "))
	}
	var out []StateBytes
	err = eachRow(c, name, newHeader(record), func(row *runRow) { out = append(out, t.read(row)...) })
	if err != nil {
		return nil, err
	}
	return out, nil
}

// state makes one figure of a row; computed is in the unit of the cell, which
// is bytes times scale.
func (r *runRow) state(family, what, cell string, computed, scale float64) StateBytes {
	line, _ := r.place(0)
	stated, err := strconv.ParseFloat(cell, 64)
	if err != nil || !(stated > 0) || stated > 1e9 {
		r.skip("", "%s: %q is not a figure; write a positive number", what, cell)
		stated = 1
	}
	if agrees(cell, stated, computed) {
		computed = stated
	}
	return StateBytes{ID: fmt.Sprintf("%s:%d %s", filepath.Base(r.file), line, what), Family: family,
		Stated: int64(math.Round(stated * scale)), Computed: int64(math.Round(computed * scale)), Skipped: r.skipped}
}

// agrees reports whether a number, rounded or cut off at the digits of a cell,
// is the cell's: tables print both.
func agrees(cell string, stated, computed float64) bool {
	_, decimals, _ := strings.Cut(cell, ".")
	digit := math.Pow10(len(decimals))
	want := math.Round(stated * digit)
	return math.Round(computed*digit) == want || math.Floor(computed*digit) == want
}

// replicas are the d for which formulas of the distributed optimizer are
// evaluated.
var replicas = []int64{1, 2, 8, 64}

// billion parameters: figures of one parameter are scored for so many, so that
// they are whole bytes.
const billion = 1e9

func (r *runRow) bytesPerParameter() []StateBytes {
	const family = "bytes a parameter"
	p, g := r.format("param_dtype"), r.format("grad_dtype")
	adam, err := step.OptimizerState("adam", p)
	if err != nil {
		r.skip("param_dtype", "%v", err)
	}
	out := []StateBytes{r.state(family, "plain", r.text("bytes_per_param_plain"), step.StateOf(p, g, adam, 0, 1).Sum(), billion)}
	fixed, spread := r.formula("bytes_per_param_dist_optimizer")
	for _, d := range replicas {
		stated := strconv.FormatFloat(fixed+spread/float64(d), 'f', 6, 64)
		out = append(out, r.state(family, fmt.Sprintf("distributed over %d", d), stated, step.StateOf(p, g, adam, 1, d).Sum(), billion))
	}
	return out
}

// formula reads "a + b/d".
func (r *runRow) formula(column string) (fixed, spread float64) {
	s := r.text(column)
	a, b, ok := strings.Cut(s, "+")
	b, isShare := strings.CutSuffix(strings.ReplaceAll(b, " ", ""), "/d")
	fixed, err1 := strconv.ParseFloat(strings.TrimSpace(a), 64)
	spread, err2 := strconv.ParseFloat(b, 64)
	if !ok || !isShare || err1 != nil || err2 != nil || !(fixed >= 0 && fixed < 1e6 && spread >= 0 && spread < 1e6) {
		r.skip(column, "%q is not a formula; write bytes that every replica has plus bytes that d replicas share, as in \"4 + 16/d\"", s)
		return 1, 0
	}
	return fixed, spread
}

// format reads a number format.
func (r *runRow) format(column string) gpu.Dtype {
	names := []string{"fp16", "bf16", "fp32"}
	for i, d := range []gpu.Dtype{gpu.FP16, gpu.BF16, gpu.FP32} {
		if r.text(column) == names[i] {
			return d
		}
	}
	r.skip(column, "%q is not a number format here; write %s", r.text(column), input.OneOf(names))
	return gpu.FP32
}

// zeroStages reads a row of the ZeRO paper's table: 16-bit parameters and
// gradients beside Adam's fp32 states.
func (r *runRow) zeroStages() []StateBytes {
	adam, err := step.OptimizerState("adam", gpu.FP16)
	if err != nil {
		r.skip("", "%v", err)
	}
	billions, d := r.measure("params_b"), int64(r.count("dp", 0))
	var out []StateBytes
	for stage, column := range []string{1: "stage1_gb", 2: "stage2_gb", 3: "stage3_gb"} {
		if column != "" {
			computed := step.StateOf(gpu.FP16, gpu.FP16, adam, stage, d).Kept() * billions
			out = append(out, r.state(fmt.Sprintf("ZeRO stage %d", stage), fmt.Sprintf("stage %d", stage), r.text(column), computed, billion))
		}
	}
	return out
}
