package report

import (
	"encoding/csv"
	"io"
	"strconv"
)

// WriteCSV writes a line a layout that is among the best or on a front.
func (p *Plan) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	line := append([]string{"rank", "front"}, p.Settings...)
	for _, c := range metricColumns {
		line = append(line, c.name)
	}
	out.Write(append(line, "headroom_bytes", "why", "point", "id")) //nolint:errcheck // Flush and Error below
	for i := range p.Sizes {
		s := &p.Sizes[i]
		onFront := map[int]bool{}
		for k := range s.Front {
			onFront[s.Front[k].Point] = true
		}
		for k := range s.Best {
			out.Write(s.Best[k].cells(onFront[s.Best[k].Point])) //nolint:errcheck // as above
		}
		for k := range s.Front {
			if s.Front[k].Rank == 0 {
				out.Write(s.Front[k].cells(true)) //nolint:errcheck // as above
			}
		}
	}
	out.Flush()
	return out.Error()
}

func (e *PlanEntry) cells(front bool) []string {
	line := []string{strconv.Itoa(e.Rank), strconv.FormatBool(front)}
	for _, s := range e.Settings {
		line = append(line, s.Value)
	}
	for _, c := range metricColumns {
		line = append(line, c.of(e.Metrics))
	}
	return append(line, strconv.FormatInt(e.Headroom, 10), e.Why, strconv.Itoa(e.Point), e.ID)
}
