package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"trainsim/sim/report"
	"trainsim/sim/search"
)

// Schema names the version of a journal: JSON, an object a line. Each line ends
// with the checksum of what it says as its key "sum".
const Schema = "trainsim.sweep-journal/v2"

// schemaFamily is what the schemas of all versions begin with.
const schemaFamily = "trainsim.sweep-journal/"

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

// ForSweep is the header of a grid's sweep. A scenario that is wrong whatever
// varies is an error.
func ForSweep(g *search.Grid, o search.Options) (*Header, error) {
	scenario, content, err := g.Identity()
	if err != nil {
		return nil, err
	}
	return &Header{
		Schema: Schema, Version: report.Version, Command: "sweep", Scenario: scenario, Content: content,
		Axes: g.Axes(),
		Options: fmt.Sprintf("together %v, global batch %d, every rank %t, events up to %d, set %q",
			g.Zipped(), g.Batch, o.EveryRank, o.MaxEvents, g.Sets),
		Points: g.Len(), Shard: o.Shard.Index, Shards: o.Shard.Stride(),
	}, nil
}

// ForPlan is the header of a planner's search.
func ForPlan(p *search.Planner, o search.Options) *Header {
	s := p.Space
	return &Header{
		Schema: Schema, Version: report.Version, Command: "plan", Scenario: s.Base.Name,
		Content: search.Identity(s.Base),
		Options: fmt.Sprintf("global batch %d, nodes %v, schedules %v, fixed %v, memory %d, micro-batches from %d, "+
			"top %d, every rank %t, events up to %d",
			s.Batch, s.Nodes, s.Kinds, s.Fixed, p.Limit, s.MinMicrobatches, p.Top, o.EveryRank, o.MaxEvents),
		Points: len(p.Layouts), Shard: o.Shard.Index, Shards: o.Shard.Stride(), Top: p.Top, Batch: s.Batch,
		Sizes: len(s.Nodes),
	}
}

// line returns the header as the first line of a journal, and the key of its rows'
// checksums.
func (h *Header) line() ([]byte, sum, error) {
	text, err := report.JSONLine(h)
	if err != nil {
		return nil, sum{}, err
	}
	line := seal(nil, text)
	_, key, err := unseal(nil, line)
	return line, key, err
}

// readHeader reads the first line of a journal.
func readHeader(line []byte) (*Header, sum, error) {
	var h Header
	text, key, err := unseal(nil, line)
	if err != nil {
		text = line // which may say what else it is
	}
	if json.Unmarshal(text, &h) != nil || !strings.HasPrefix(h.Schema, schemaFamily) {
		return nil, key, fmt.Errorf("it does not begin as a journal of this version (%s)", Schema)
	}
	if h.Schema != Schema {
		return nil, key, fmt.Errorf("it is a journal of another version of trainsim (%.60q), whose results are not "+
			"gone on with: this one reads %q",
			h.Schema, Schema)
	}
	if err != nil {
		return nil, key, fmt.Errorf("its first line cannot be trusted: %w", err)
	}
	return &h, key, h.check()
}

// maxPoints is more points than any search has.
const maxPoints = 100_000_000

// check looks at what a reader relies on.
func (h *Header) check() error {
	switch {
	case h.Command != "sweep" && h.Command != "plan":
		return fmt.Errorf("its command is %.60q, neither sweep nor plan", h.Command)
	case h.Points < 1 || h.Points > maxPoints:
		return fmt.Errorf("it has %d points", h.Points)
	case h.Shards < 1 || h.Shard < 0 || h.Shard >= h.Shards:
		return fmt.Errorf("its shard is %d/%d", h.Shard, h.Shards)
	case h.Command == "plan" && (h.Top < 1 || h.Batch < 1 || h.Sizes < 1):
		return fmt.Errorf("it is a plan of the fastest %d for a global batch of %d and %d numbers of GPUs", h.Top,
			h.Batch, h.Sizes)
	}
	return nil
}

// keys are the keys that a row has settings of.
func (h *Header) keys() []string {
	if h.Command == "plan" {
		return search.PlanKeys()
	}
	var out []string
	for _, a := range h.Axes {
		out = append(out, a.Key)
	}
	return out
}

// checkRow reports why a row is none of this search, with settings of the keys.
func (h *Header) checkRow(row *report.SweepRow, keys []string) error {
	if row.Point < 0 || row.Point >= h.Points || row.Point%h.Shards != h.Shard {
		return fmt.Errorf("point %d is none of shard %v of %d points", row.Point, h.part(), h.Points)
	}
	ofKey := func(s report.Setting, key string) bool { return s.Key == key }
	if !slices.EqualFunc(row.Settings, keys, ofKey) {
		return errors.New("its settings are of other keys than vary")
	}
	return nil
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
