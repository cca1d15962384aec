package measured

import (
	"context"

	"trainsim/sim/report"
)

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
