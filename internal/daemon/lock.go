package daemon

import (
	"context"
	"fmt"
	"time"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

// lockState waits for the lock of a state file, or for the end of ctx. A disk
// that takes no file more has none to wait for.
func lockState(ctx context.Context, path string) (unlock func(), err error) {
	lock := safefile.Lock(path)
	got, err := lock.TryLock()
	if !got && err == nil {
		_, err = lock.TryLockContext(ctx, 5*time.Millisecond)
		if ctx.Err() != nil && err != nil {
			return nil, fmt.Errorf("another call of the session holds %s: %w", path, context.Cause(ctx))
		}
	}
	return func() { _ = lock.Unlock() }, nil
}
