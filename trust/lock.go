package trust

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

// lock waits for the lock that the file at path stands for, which goroutines of
// one process contend for too. A process that stopped while it held it is
// not waited for without end.
func lock(path string, wait time.Duration) (unlock func(), err error) {
	f := safefile.Lock(path)
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	_, err = f.TryLockContext(ctx, 5*time.Millisecond)
	if errors.Is(err, context.DeadlineExceeded) {
		err = &Problem{CodeBusy, path, fmt.Sprintf("is held by another process for more than %s", wait), "find that process and end it, or try again"}
	}
	if err != nil {
		return nil, unwritten(path, err)
	}
	return func() { _ = f.Unlock() }, nil
}
