package search

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// InParallel calls do for 0 to n-1, jobs at a time (0: one a core), and returns
// the error of the smallest index that failed. After a failure or when ctx is
// done no further calls begin.
func InParallel(ctx context.Context, jobs, n int, do func(int) error) error {
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	errs := make([]error, n)
	var next atomic.Int64
	var failed atomic.Bool
	var wg sync.WaitGroup
	for range min(jobs, n) {
		wg.Go(func() {
			for {
				i := int(next.Add(1) - 1)
				if i >= n || failed.Load() || ctx.Err() != nil {
					return
				}
				if errs[i] = guarded(func() error { return do(i) }); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// guarded turns a panic of a call into an error, as it would otherwise end the
// program without a word about where.
func guarded(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v", p)
		}
	}()
	return do()
}
