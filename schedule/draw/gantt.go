package draw

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"trainsim/schedule"
)

// Gantt draws a program over time, a line for each rank, on at most width
// columns (0: 120), with ANSI colours by operation if asked for. Each action
// begins with its letter and micro-batch (and chunk, where a rank has several),
// of which the end is left out where there is no room; forwards are filled with
// "=", input gradients and fused backwards with "-", weight gradients with "~",
// overlapped pairs with "#", and idle time with ".".
func Gantt(w io.Writer, p *schedule.Program, r *schedule.Result, width int, color bool) error {
	if width <= 0 {
		width = 120
	}
	width = wholeColumns(r.Makespan, width)
	label := len("rank ") + len(strconv.Itoa(p.Ranks-1))
	for rank := range p.Lists {
		row := newGanttRow(p, r, rank, width)
		name := fmt.Sprintf("%-*s ", label, "rank "+strconv.Itoa(rank))
		if _, err := io.WriteString(w, name+row.text(color)+"\n"); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%*s %s\n", label, "", timeAxis(r.Makespan, width))
	return err
}

// wholeColumns lowers width to a multiple of a whole makespan, so that actions
// of the same length take the same columns.
func wholeColumns(makespan float64, width int) int {
	if makespan < 1 || makespan > float64(width) || makespan != math.Trunc(makespan) {
		return width
	}
	return width - width%int(makespan)
}

// ganttRow is one rank's line: a character and a colour for each column.
type ganttRow struct {
	chars  []byte
	colors []byte // index into ganttColors
}

// ganttColors are ANSI codes: idle, F, I, W, B and pairs. Blue, orange (as
// yellow), green and magenta stay apart for most colour-blind readers.
var ganttColors = [...]string{"2", "34", "33", "32", "35", "36"}

var ganttFills = [...]byte{'.', '=', '-', '~', '-', '#'}

func newGanttRow(p *schedule.Program, r *schedule.Result, rank, width int) ganttRow {
	row := ganttRow{chars: bytes.Repeat([]byte{'.'}, width), colors: make([]byte, width)}
	list := p.Lists[rank]
	tokens := p.Tokens(rank)
	for i, k := 0, 0; i < len(list); k++ {
		n, style := 1, byte(list[i].Op)+1
		if list[i].Pair {
			n, style = 2, byte(len(ganttFills)-1)
		}
		from := column(r.Start[rank][i], r.Makespan, width)
		to := column(r.End[rank][i], r.Makespan, width)
		row.fill(from, to, style, tokens[k])
		i += n
	}
	return row
}

// column returns the column of a time, rounded to nearest.
func column(at, makespan float64, width int) int {
	if makespan == 0 {
		return 0
	}
	return int(math.Round(at / makespan * float64(width)))
}

// fill draws an action: its token where it fits, else without the chunk, else
// its letter.
func (g ganttRow) fill(from, to int, style byte, token string) {
	for c := from; c < to; c++ {
		g.chars[c], g.colors[c] = ganttFills[style], style
	}
	if room := to - from; len(token) > room {
		token, _, _ = strings.Cut(token, ".")
		if len(token) > room {
			token = token[:min(1, room)]
		}
	}
	copy(g.chars[from:], token)
}

// text returns the line, with colours if asked for.
func (g ganttRow) text(color bool) string {
	if !color {
		return string(g.chars)
	}
	var b strings.Builder
	for i, c := range g.chars {
		if i == 0 || g.colors[i] != g.colors[i-1] {
			b.WriteString("\x1b[" + ganttColors[g.colors[i]] + "m")
		}
		b.WriteByte(c)
	}
	b.WriteString("\x1b[0m")
	return b.String()
}

// timeAxis returns marks at round times over width columns.
func timeAxis(makespan float64, width int) string {
	line := bytes.Repeat([]byte{' '}, width+1)
	if makespan <= 0 {
		return "0"
	}
	step := roundStep(makespan / float64(max(1, width/12)))
	free := 0
	for i := range width {
		at := float64(i) * step
		c := column(at, makespan, width)
		if c > width {
			break
		}
		text := "|" + strconv.FormatFloat(at, 'g', 6, 64)
		if c < free {
			continue
		}
		for len(line) < c+len(text) {
			line = append(line, ' ')
		}
		copy(line[c:], text)
		free = c + len(text) + 1
	}
	return strings.TrimRight(string(line), " ")
}

// roundStep returns the smallest of 1, 2, 5 times a power of ten that is at
// least x.
func roundStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, f := range []float64{1, 2, 5} {
		if float64(f*power) >= x {
			return float64(f * power)
		}
	}
	return float64(10 * power)
}
