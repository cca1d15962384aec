package search

import (
	"fmt"
	"slices"

	"trainsim/scenarios"
	"trainsim/scenarios/keys"
	"trainsim/sim/job"
	"trainsim/sim/report"
)

// Grid is a scenario with axes along which keys of it vary: points that are
// numbered from 0. The first axis varies slowest.
type Grid struct {
	Template *scenarios.Template
	Sets     []string // overrides that all points share
	// Batch is the global batch, in samples, that every point keeps by cutting
	// it anew; with 0 it follows from the point's settings.
	Batch int64

	axes   []report.Axis
	zip    []string // keys whose axes advance together and so count as one
	groups [][]int  // axes that advance together, in the order of the first
}

// maxPoints bounds a grid.
const maxPoints = 10_000_000

// NewGrid makes a grid without a scenario. The axes of the keys in zip advance
// together instead of multiplying.
func NewGrid(axes []report.Axis, zip []string) (*Grid, error) {
	if len(axes) == 0 {
		return nil, fmt.Errorf("nothing varies; write something like schedule.microbatches=4,8,16")
	}
	var keys []string
	for _, a := range axes {
		if slices.ContainsFunc(keys, sameKey(a.Key)) {
			return nil, fmt.Errorf("%s varies twice; write all of its values at once", a.Key)
		}
		keys = append(keys, a.Key)
	}
	for _, key := range zip {
		if !slices.ContainsFunc(keys, sameKey(key)) {
			return nil, fmt.Errorf("%s is to advance together with others but does not vary", key)
		}
	}
	g := &Grid{axes: axes, zip: zip}
	if err := g.group(); err != nil {
		return nil, err
	}
	n := 1
	for _, group := range g.groups {
		if n *= len(axes[group[0]].Values); n > maxPoints {
			return nil, fmt.Errorf("the sweep has more than %d points; write fewer values", maxPoints)
		}
	}
	return g, nil
}

// sameKey says of keys whether they are the given one, by either of its names.
func sameKey(key string) func(string) bool {
	return func(other string) bool { return keys.Canonical(other) == keys.Canonical(key) }
}

// group puts the axes that advance together where the first of them stands.
func (g *Grid) group() error {
	zipped := -1
	for i, a := range g.axes {
		if !slices.ContainsFunc(g.zip, sameKey(a.Key)) {
			g.groups = append(g.groups, []int{i})
			continue
		}
		if zipped < 0 {
			zipped = len(g.groups)
			g.groups = append(g.groups, nil)
		} else if first := g.axes[g.groups[zipped][0]]; len(first.Values) != len(a.Values) {
			return fmt.Errorf("%s has %d values and %s has %d; keys that advance together need as many values each",
				first.Key, len(first.Values), a.Key, len(a.Values))
		}
		g.groups[zipped] = append(g.groups[zipped], i)
	}
	return nil
}

// Axes returns what varies.
func (g *Grid) Axes() []report.Axis { return g.axes }

// Zipped returns the keys whose axes advance together.
func (g *Grid) Zipped() []string { return g.zip }

// Len returns the number of points.
func (g *Grid) Len() int {
	n := 1
	for _, group := range g.groups {
		n *= len(g.axes[group[0]].Values)
	}
	return n
}

// Values returns what the axes are set to at a point, in the order of the axes.
func (g *Grid) Values(point int) []string {
	out := make([]string, len(g.axes))
	for i := len(g.groups) - 1; i >= 0; i-- {
		n := len(g.axes[g.groups[i][0]].Values)
		for _, axis := range g.groups[i] {
			out[axis] = g.axes[axis].Values[point%n]
		}
		point /= n
	}
	return out
}

// layoutKeys are the keys that decide how many replicas there is room for.
var layoutKeys = []string{
	"parallel.tp", "parallel.pp", "parallel.cp", "cluster.nodes", "cluster.gpus_per_node", "cluster.preset",
	"cluster.visible_devices", "cluster.topology",
}

// FollowsLayout reports whether parallel.dp is left to follow from the rest,
// whatever the scenario says, because the layout or the number of GPUs varies.
func (g *Grid) FollowsLayout() bool {
	follows := false
	for _, a := range g.axes {
		if a.Key == "parallel.dp" {
			return false
		}
		follows = follows || slices.Contains(layoutKeys, a.Key)
	}
	return follows
}

// Load makes the configuration of a point. The error is a [*input.Errors].
func (g *Grid) Load(point int) (*job.Config, error) {
	var keys, sets []string
	if g.FollowsLayout() {
		sets = append(sets, "parallel.dp=")
	}
	sets = append(sets, g.Sets...)
	for i, v := range g.Values(point) {
		keys = append(keys, g.axes[i].Key)
		sets = append(sets, g.axes[i].Key+"="+v)
	}
	return g.Template.LoadKeeping(g.Batch, keys, sets)
}

// Point resolves a point. Settings that contradict each other are its outcome, as
// is a failure to resolve them.
func (g *Grid) Point(i int) *Point {
	p := &Point{Row: report.SweepRow{Point: i}}
	for k, v := range g.Values(i) {
		p.Row.Settings = append(p.Row.Settings, report.Setting{Key: g.axes[k].Key, Value: v})
	}
	failure := guarded(func() error {
		cfg, err := g.Load(i)
		if err != nil {
			p.Row.ID = invalidIdentity(err)
			p.Row.Outcome, p.Row.Reason = report.OutcomeInvalid, reason(err)
			return nil
		}
		p.Config, p.Row.ID = cfg, Identity(cfg)
		return nil
	})
	if failure != nil {
		p.Config, p.Row.ID = nil, invalidIdentity(failure)
		p.Row.Fail(failure)
	}
	return p
}

// Identity returns the name of the scenario and what names the grid's content:
// another scenario under the same axes has another one. A scenario that is wrong
// whatever varies is an error.
func (g *Grid) Identity() (scenario, content string, err error) {
	first, last := g.Point(0), g.Point(g.Len()-1)
	content = first.Row.ID + last.Row.ID
	for _, p := range []*Point{first, last} {
		if p.Config != nil {
			return p.Config.Name, content, nil
		}
	}
	base, err := g.Template.Load(g.Sets)
	if err != nil {
		return "", "", err
	}
	return base.Name, content, nil
}
