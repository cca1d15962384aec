package measured

import (
	"context"
	"errors"
	"fmt"

	"trainsim/sim/job"
	"trainsim/sim/report"
)

// Row is one measurement with the work that fills in its prediction.
type Row struct {
	report.Scored
	config  *job.Config                                 // of a training run, else nil
	predict func(context.Context, *report.Scored) error // nil for a skipped row
}

// run fills in the prediction. A panic becomes an error: one row is to blame.
func (r *Row) run(ctx context.Context) (err error) {
	if r.predict == nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v", p)
		}
	}()
	return r.predict(ctx, &r.Scored)
}

// timed makes the row of something that has a time and nothing else.
func timed(id, family string, seconds float64, skipped string, predict func() (float64, error)) Row {
	r := Row{Scored: report.Scored{ID: id, Family: family, Skipped: skipped}}
	if seconds > 0 {
		r.Measured = &seconds
	}
	if skipped != "" {
		return r
	}
	r.predict = func(_ context.Context, s *report.Scored) error {
		t, err := predict()
		if err == nil && !(t > 0) {
			err = errors.New("the prediction is not a positive time")
		}
		if err == nil {
			s.Predicted = &t
		}
		return err
	}
	return r
}

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
