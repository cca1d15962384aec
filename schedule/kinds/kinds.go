package kinds

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"trainsim/schedule"
	"trainsim/schedule/vshape"
	"trainsim/sim/input"
)

// All returns all schedules, in the order in which they are listed.
func All() []schedule.Kind {
	return slices.Concat(
		gpipeKinds(), oneFOneBKinds(), interleavedKinds(), breadthFirstKinds(), zeroBubbleKinds(), greedyKinds(),
		vshape.Kinds(), hanayoKinds(), dualpipeKinds(), chimeraKinds(), pipedreamKinds(),
	)
}

// Find returns the schedule of a name or alias. Case, and the difference
// between "-", "_" and a space, do not matter.
func Find(name string) (*schedule.Kind, error) {
	want := normalise(name)
	all := All()
	for i := range all {
		k := &all[i]
		if normalise(k.Name) == want ||
			slices.ContainsFunc(k.Aliases, func(a string) bool { return normalise(a) == want }) {
			return k, nil
		}
	}
	names := make([]string, len(all))
	for i, k := range all {
		names[i] = k.Name
	}
	return nil, fmt.Errorf("unknown schedule %s; write one of %s", input.Quote(name), strings.Join(names, ", "))
}

var separators = strings.NewReplacer("-", "", "_", "", " ", "")

// normalise folds the spellings of a schedule's name into one.
func normalise(name string) string { return separators.Replace(strings.ToLower(name)) }

// Build makes the program of a schedule, given by name or alias, as
// [Kind.Build] does.
func Build(ctx context.Context, name string, o schedule.Options) (*schedule.Program, error) {
	k, err := Find(name)
	if err != nil {
		return nil, err
	}
	return k.Build(ctx, o)
}
