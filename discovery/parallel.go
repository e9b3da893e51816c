package discovery

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// inParallel calls do for each of n indexes, on as many goroutines as there are
// processors, until ctx ends. It returns when all of them have.
func inParallel(ctx context.Context, n int, do func(i int)) error {
	var next atomic.Int64
	work := func() {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			do(i)
		}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return context.Cause(ctx)
}
