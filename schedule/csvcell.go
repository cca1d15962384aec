package schedule

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"trainsim/sim/input"
)

// cell is one action or communication of a file, before it is known which
// chunk its stage is.
type cell struct {
	kind       StepKind
	op         Op
	pair       bool // the next cell is the other half
	stage      int
	microbatch int
	column     int // 1-based cell of the row
	text       string
}

// maxFileNumber bounds the stages and micro-batches that a file may name.
const maxFileNumber = 1 << 26

// cellOps are the operations of a cell, longest first where one begins another.
var cellOps = []struct {
	text string
	kind StepKind
	op   Op
}{
	{"SEND_F", SendForward, Forward}, {"RECV_F", RecvForward, Forward},
	{"SEND_B", SendBackward, Backward}, {"RECV_B", RecvBackward, Backward},
	{"BW", Compute, Backward}, {"F", Compute, Forward}, {"I", Compute, BackwardInput},
	{"W", Compute, BackwardWeight}, {"B", Compute, Backward},
}

// errIgnored marks cells that neither compute nor move micro-batches.
var errIgnored = errors.New("ignored")

// parseCell reads one non-empty cell into one action, or two for a pair.
func parseCell(text string) ([]cell, error) {
	if !strings.HasPrefix(text, "(") {
		c, err := parseAction(text)
		if errors.Is(err, errIgnored) {
			return nil, nil
		}
		return []cell{c}, err
	}
	inner, found := strings.CutSuffix(text[1:], ")OVERLAP_F_B")
	first, second, two := strings.Cut(inner, ";")
	if !found || !two {
		return nil, errors.New(`an overlapped pair is written "(0F7;7B3)OVERLAP_F_B"`)
	}
	a, err := parseAction(strings.TrimSpace(first))
	if err != nil {
		return nil, fmt.Errorf("first half: %w", err)
	}
	b, err := parseAction(strings.TrimSpace(second))
	if err != nil {
		return nil, fmt.Errorf("second half: %w", err)
	}
	if a.kind != Compute || b.kind != Compute {
		return nil, errors.New("only computation can be paired")
	}
	a.pair = true
	return []cell{a, b}, nil
}

// parseAction reads stage, operation and micro-batch, such as "3F0".
func parseAction(text string) (cell, error) {
	stage, rest, err := leadingNumber(text)
	if err != nil {
		return cell{}, fmt.Errorf("stage: %w", err)
	}
	switch rest {
	case "UNSHARD", "RESHARD", "REDUCE_GRAD":
		return cell{}, errIgnored
	}
	for _, o := range cellOps {
		after, ok := strings.CutPrefix(rest, o.text)
		if !ok {
			continue
		}
		mb, left, err := leadingNumber(after)
		if err != nil {
			return cell{}, fmt.Errorf("micro-batch: %w", err)
		}
		if left != "" {
			return cell{}, fmt.Errorf("%s follows the micro-batch; separate actions by commas", input.Quote(left))
		}
		return cell{kind: o.kind, op: o.op, stage: stage, microbatch: mb, text: text}, nil
	}
	return cell{}, errors.New("unknown operation; write stage, operation and micro-batch, with F, I, W, B, SEND_F, " +
		"RECV_F, SEND_B or RECV_B, as in 3F0")
}

// leadingNumber reads the decimal number that text begins with.
func leadingNumber(text string) (n int, rest string, err error) {
	i := 0
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	if i == 0 {
		return 0, text, errors.New("a number is missing; write stage, operation and micro-batch, as in 3F0")
	}
	n, err = strconv.Atoi(text[:i])
	if err != nil || n > maxFileNumber {
		return 0, text, fmt.Errorf("%s is too large; at most %d", input.Clip(text[:i]), maxFileNumber)
	}
	return n, text[i:], nil
}
