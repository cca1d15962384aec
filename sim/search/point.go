package search

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"trainsim/scenarios"
	"trainsim/sim/account"
	"trainsim/sim/input"
	"trainsim/sim/job"
	"trainsim/sim/report"
	"trainsim/sim/step"
)

// Point is one scenario of a search. Without a configuration its settings are
// invalid and its row is complete.
type Point struct {
	Config *job.Config
	Row    report.SweepRow
}

// simulate fills the point's row. Only an interruption is an error.
func (p *Point) simulate(ctx context.Context, o step.Options) error {
	if p.Config == nil {
		return nil
	}
	err := guarded(func() error {
		j, err := job.Build(ctx, p.Config, account.Peaks)
		if err != nil {
			p.Row.Outcome, p.Row.Reason = report.OutcomeInvalid, reason(err)
			return nil
		}
		res, err := step.Simulate(ctx, j, o)
		if err == nil {
			p.Row.Fill(res)
		}
		return err
	})
	if err != nil && ctx.Err() == nil {
		p.Row.Fail(err)
	}
	return ctx.Err()
}

// Identity names a scenario: the hash of everything that decides its results,
// which is the resolved scenario and the version of the program.
func Identity(cfg *job.Config) string { return identity(cfg, report.Version) }

func identity(cfg *job.Config, version string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", version)
	scenarios.Write(h, cfg) //nolint:errcheck // a hash does not fail
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// invalidIdentity names a scenario that could not be resolved, by what is wrong.
func invalidIdentity(err error) string {
	sum := sha256.Sum256([]byte(report.Version + "\ninvalid\n" + err.Error()))
	return hex.EncodeToString(sum[:16])
}

// reason says in one line what is wrong with a point, without the places in its
// overrides.
func reason(err error) string {
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
