package measured

import (
	"context"

	"trainsim/sim/report"
)

// Each calls do for 0 to n-1, in any order and several at a time if it likes,
// and returns the first error of the smallest index. After a failure or when ctx
// is done no further calls begin. A nil Each makes the calls one after the other.
type Each func(ctx context.Context, n int, do func(i int) error) error

func (each Each) call(ctx context.Context, n int, do func(i int) error) error {
	if each != nil {
		return each(ctx, n, do)
	}
	for i := range n {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := do(i); err != nil {
			return err
		}
	}
	return nil
}

// Predict predicts all rows. A row that fails is skipped with the reason; only a
// context that is done makes an error.
func Predict(ctx context.Context, rows []Row, each Each) error {
	return each.call(ctx, len(rows), func(i int) error {
		if err := rows[i].run(ctx); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			rows[i].Skipped = err.Error()
		}
		return nil
	})
}

// NewScore compares predicted rows with what was measured, sums them up by
// family, and names the families whose measured memory contradicts their columns
// and agrees with others.
func NewScore(ctx context.Context, rows []Row, each Each) (*report.Score, error) {
	scored := make([]report.Scored, len(rows))
	for i := range rows {
		scored[i] = rows[i].Scored
	}
	score := report.NewScore(scored)
	var err error
	score.Doubts, err = doubts(ctx, rows, score, each)
	return score, err
}
