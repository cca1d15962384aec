package calibrate

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"

	"trainsim/sim"
)

// leastRows is the smallest number of measurements that anything is fitted to.
const leastRows = 5

// pull is the weight of the squared logarithm of a parameter's change against
// the mean loss of the measurements: a parameter that nothing decides stays.
const pull = 2e-4

// softness is the relative error below which the loss is quadratic: beyond it
// outliers count by their size only.
const softness = 0.03

// loss is the pseudo-Huber loss of the logarithm of predicted over measured.
func loss(predicted sim.Time, seconds float64) float64 {
	e := math.Log(predicted.Seconds()/seconds) / softness
	return softness * (math.Sqrt(1+float64(e*e)) - 1)
}

// minimise runs the simplex method of Nelder and Mead on the logarithms of
// parameters from their values on, once for each size of the first simplex
// because it stalls, with a number of evaluations for each parameter. The
// objective takes the parameters over; it is left at the best ones. It gives up
// with the context's error when that is done.
func minimise(
	ctx context.Context, start []float64, evaluations int, sizes []float64, objective func(z []float64) float64,
) error {
	best := slices.Clone(start)
	problem := optimize.Problem{
		Func: objective, Status: func() (optimize.Status, error) { return optimize.NotTerminated, ctx.Err() },
	}
	for _, size := range sizes {
		settings := &optimize.Settings{FuncEvaluations: evaluations * (len(start) + 1)}
		result, err := optimize.Minimize(problem, best, settings, &optimize.NelderMead{SimplexSize: size})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if result == nil {
			return err
		}
		best = result.X
	}
	objective(best)
	return nil
}
