package schedule

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"trainsim/sim/input"
)

// ReadStageCosts reads a line of forward, input-gradient and weight-gradient
// time for each stage; empty lines and those that begin with # are left out.
// name is used in errors, which say file and line.
func ReadStageCosts(r io.Reader, name string) ([]StageCost, error) {
	var out []StageCost
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cost, err := parseStageCost(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		out = append(out, cost)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no costs; write a line F,I,W for each stage", name)
	}
	return out, nil
}

func parseStageCost(line string) (StageCost, error) {
	fields := strings.Split(line, ",")
	if what := input.Separator(line); what != "" {
		return StageCost{}, fmt.Errorf("its numbers are separated by %s; write commas between them, as in 10,12,8",
			what)
	}
	if len(fields) != 3 {
		return StageCost{}, fmt.Errorf("%d numbers; write three, F,I,W, as in 10,12,8", len(fields))
	}
	var x [3]float64
	for i, field := range fields {
		var err error
		if x[i], err = strconv.ParseFloat(strings.TrimSpace(field), 64); err != nil {
			return StageCost{}, fmt.Errorf("%s is not a number; write F,I,W, as in 10,12,8",
				input.Quote(strings.TrimSpace(field)))
		}
	}
	return StageCost{Forward: x[0], BackwardInput: x[1], BackwardWeight: x[2]}, nil
}
