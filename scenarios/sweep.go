package scenarios

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"trainsim/sim/input"
	"trainsim/sim/job"
)

// Sweep is a scenario with axes along which keys of it vary: a grid of points,
// numbered from 0. The first axis varies slowest.
type Sweep struct {
	Template *Template
	Sets     []string // overrides that all points share
	Axes     []Axis
	// Zip names the axes that advance together and so count as one.
	Zip []string
	// Batch is the global batch, in samples, that every point keeps by cutting
	// it anew; with 0 it follows from the point's settings.
	Batch int64

	groups [][]int // axes that advance together, in the order of the first
}

// maxPoints bounds a sweep.
const maxPoints = 10_000_000

// Prepare checks the axes against each other and makes the sweep ready.
func (s *Sweep) Prepare() error {
	if len(s.Axes) == 0 {
		return fmt.Errorf("nothing varies; write something like schedule.microbatches=4,8,16")
	}
	seen := map[string]bool{}
	for _, a := range s.Axes {
		if seen[canonical(a.Key)] {
			return fmt.Errorf("%s varies twice; write all of its values at once", a.Key)
		}
		seen[canonical(a.Key)] = true
	}
	for _, key := range s.Zip {
		if !seen[canonical(key)] {
			return fmt.Errorf("%s is to advance together with others but does not vary", key)
		}
	}
	if err := s.group(); err != nil {
		return err
	}
	n := 1
	for _, g := range s.groups {
		if n *= len(s.Axes[g[0]].Values); n > maxPoints {
			return fmt.Errorf("the sweep has more than %d points; write fewer values", maxPoints)
		}
	}
	return nil
}

// group puts the axes that advance together where the first of them stands.
func (s *Sweep) group() error {
	s.groups = nil
	zipped := -1
	for i, a := range s.Axes {
		if !slices.ContainsFunc(s.Zip, func(key string) bool { return canonical(key) == canonical(a.Key) }) {
			s.groups = append(s.groups, []int{i})
			continue
		}
		if zipped < 0 {
			zipped = len(s.groups)
			s.groups = append(s.groups, nil)
		} else if first := s.Axes[s.groups[zipped][0]]; len(first.Values) != len(a.Values) {
			return fmt.Errorf("%s has %d values and %s has %d; keys that advance together need as many values each",
				first.Key, len(first.Values), a.Key, len(a.Values))
		}
		s.groups[zipped] = append(s.groups[zipped], i)
	}
	return nil
}

// Len returns the number of points.
func (s *Sweep) Len() int {
	n := 1
	for _, g := range s.groups {
		n *= len(s.Axes[g[0]].Values)
	}
	return n
}

// Values returns what the axes are set to at a point, in the order of the axes.
func (s *Sweep) Values(point int) []string {
	out := make([]string, len(s.Axes))
	for i := len(s.groups) - 1; i >= 0; i-- {
		n := len(s.Axes[s.groups[i][0]].Values)
		for _, axis := range s.groups[i] {
			out[axis] = s.Axes[axis].Values[point%n]
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
func (s *Sweep) FollowsLayout() bool {
	follows := false
	for _, a := range s.Axes {
		if a.Key == "parallel.dp" {
			return false
		}
		follows = follows || slices.Contains(layoutKeys, a.Key)
	}
	return follows
}

// Load makes the configuration of a point. The error is an [*Errors].
func (s *Sweep) Load(point int) (*job.Config, error) {
	var sets []string
	if s.FollowsLayout() {
		sets = append(sets, "parallel.dp=")
	}
	sets = append(sets, s.Sets...)
	l := s.Template.loader()
	l.batch = batch{samples: s.Batch, fixed: map[string]bool{}}
	for i, v := range s.Values(point) {
		sets = append(sets, s.Axes[i].Key+"="+v)
		l.batch.fixed[canonical(s.Axes[i].Key)] = true
	}
	return l.load(sets)
}

// Identity names a variant of a scenario: the hash of everything that decides
// its results, which is the resolved scenario and the version of the program.
func Identity(cfg *job.Config, version string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", version)
	Write(h, cfg) //nolint:errcheck // a hash does not fail
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// InvalidIdentity names a variant that could not be resolved, by what is wrong.
func InvalidIdentity(err error, version string) string {
	sum := sha256.Sum256([]byte(version + "\ninvalid\n" + err.Error()))
	return hex.EncodeToString(sum[:16])
}

// Reason says in one line what is wrong with a point, without the places in its
// overrides.
func Reason(err error) string {
	all, ok := err.(*input.Errors)
	if !ok {
		return strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	var parts []string
	for _, p := range all.Problems {
		text := p.Text
		if p.Key != "" {
			text = p.Key + ": " + text
		}
		parts = append(parts, text)
	}
	return strings.ReplaceAll(strings.Join(parts, "; "), "\n", " ")
}
