package journal

import (
	"fmt"
	"slices"

	"trainsim/sim/report"
	"trainsim/sim/search"
)

// Schema names the version of a journal.
const Schema = "trainsim.sweep-journal/v1"

// Header is the first line of a journal. It says which sweep the rows
// under it are of; two journals with different headers are of different sweeps.
type Header struct {
	Schema   string        `json:"schema"`
	Version  string        `json:"trainsim_version"`
	Command  string        `json:"command"` // sweep | plan
	Scenario string        `json:"scenario"`
	Content  string        `json:"content"` // identity of the scenario that everything starts from
	Axes     []report.Axis `json:"axes"`
	Options  string        `json:"options"` // what else decides the points, in words
	Points   int           `json:"points"`  // of all shards together
	Shard    int           `json:"shard"`
	Shards   int           `json:"shards"`
	Top      int           `json:"top,omitempty"`          // of a plan: how many of the fastest are shown
	Batch    int64         `json:"global_batch,omitempty"` // of a plan
	Sizes    int           `json:"sizes,omitempty"`        // of a plan: how many numbers of GPUs are searched
}

// ForSweep is the header of a grid's sweep. Options says what else decides the
// points, in words.
func ForSweep(g *search.Grid, part search.Shard, options string) (*Header, error) {
	scenario, content, err := g.Identity()
	if err != nil {
		return nil, err
	}
	return &Header{
		Schema: Schema, Version: report.Version, Command: "sweep", Scenario: scenario, Content: content, Axes: g.Axes(), Options: options,
		Points: g.Len(), Shard: part.Index, Shards: part.Stride(),
	}, nil
}

// ForPlan is the header of a planner's search. Options says what else decides the
// layouts, in words.
func ForPlan(p *search.Planner, part search.Shard, options string) *Header {
	s := p.Space
	return &Header{
		Schema: Schema, Version: report.Version, Command: "plan", Scenario: s.Base.Name, Content: search.Identity(s.Base), Options: options,
		Points: len(p.Layouts), Shard: part.Index, Shards: part.Stride(), Top: p.Top, Batch: s.Batch, Sizes: len(s.Nodes),
	}
}

// part is the shard of which the journal holds the points.
func (h *Header) part() search.Shard { return search.Shard{Index: h.Shard, Of: h.Shards} }

// Difference says in which respect two headers are of different sweeps, "" if
// they are of the same one. The shard does not count.
func (h *Header) Difference(other *Header) string {
	for _, d := range []struct {
		what      string
		same      bool
		ours, its any
	}{
		{"the command", h.Command == other.Command, h.Command, other.Command},
		{"the scenario", h.Scenario == other.Scenario, h.Scenario, other.Scenario},
		{"the version of trainsim", h.Version == other.Version, h.Version, other.Version},
		{"the options", h.Options == other.Options, h.Options, other.Options},
	} {
		if !d.same {
			return fmt.Sprintf("%s: %v and %v", d.what, d.ours, d.its)
		}
	}
	sameAxis := func(a, b report.Axis) bool { return a.Key == b.Key && slices.Equal(a.Values, b.Values) }
	switch {
	case !slices.EqualFunc(h.Axes, other.Axes, sameAxis):
		return "what varies, or its values"
	case h.Content != other.Content || h.Points != other.Points:
		return "what the scenario says"
	}
	return ""
}

// Line returns the header as the first line of a journal.
func (h *Header) Line() ([]byte, error) { return report.JSONLine(h) }
