package schedule

import (
	"fmt"
	"slices"
	"strings"
)

// Kind describes one schedule that Build can make.
type Kind struct {
	Name        string   // canonical name
	Aliases     []string // what systems and papers call it
	Summary     string   // one line
	Constraint  string   // which counts it takes
	FixedChunks bool     // the number of chunks a rank is the schedule's own

	chunks int // default (or fixed) chunks a rank
	build  func(k *Kind, o Options) (*Program, error)
}

// Chunks returns the number of model chunks a rank that the schedule has by
// default, or always where FixedChunks is set.
func (k Kind) Chunks() int { return k.chunks }

// Kinds returns all schedules, in the order in which they are listed.
func Kinds() []Kind {
	out := make([]Kind, 0, 32)
	for _, family := range [][]Kind{
		gpipeKinds(), oneFOneBKinds(), interleavedKinds(), bfsKinds(), zbKinds(), autoKinds(), vKinds(),
		dualpipeKinds(), chimeraKinds(), pipedreamKinds(),
	} {
		out = append(out, family...)
	}
	return out
}

// Find returns the schedule of a name or alias. Case, and the difference
// between "-", "_" and a space, do not matter.
func Find(name string) (Kind, error) {
	want := normalise(name)
	all := Kinds()
	for _, k := range all {
		if normalise(k.Name) == want || slices.ContainsFunc(k.Aliases, func(a string) bool { return normalise(a) == want }) {
			return k, nil
		}
	}
	names := make([]string, len(all))
	for i, k := range all {
		names[i] = k.Name
	}
	return Kind{}, fmt.Errorf("unknown schedule %q; write one of %s", name, strings.Join(names, ", "))
}

var separators = strings.NewReplacer("-", "", "_", "", " ", "")

// normalise folds the spellings of a schedule's name into one.
func normalise(name string) string { return separators.Replace(strings.ToLower(name)) }

// Build makes the program of a schedule, given by name or alias. Counts that
// the schedule cannot take are a *CountError.
func Build(kind string, o Options) (*Program, error) {
	k, err := Find(kind)
	if err != nil {
		return nil, err
	}
	if err := k.checkBasic(&o); err != nil {
		return nil, err
	}
	return k.build(&k, o)
}
