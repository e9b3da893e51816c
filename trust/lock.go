package trust

import (
	"fmt"
	"os"
	"time"
)

// lockPause is between two attempts to lock.
const lockPause = 5 * time.Millisecond

// lock waits for the lock that the file at path stands for, which goroutines of
// one process contend for too. A process that stopped while it held it is
// not waited for without end.
func lock(path string, wait time.Duration) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|nonblock, 0o600)
	if err != nil {
		return nil, unwritten(path, err)
	}
	for end := time.Now().Add(wait); ; time.Sleep(lockPause) {
		got, err := tryLock(f)
		if got {
			return func() { _ = f.Close() }, nil
		}
		if err == nil && time.Now().After(end) {
			err = &Problem{CodeBusy, path, fmt.Sprintf("is held by another process for more than %s", wait), "find that process and end it, or try again"}
		}
		if err != nil {
			_ = f.Close()
			return nil, unwritten(path, err)
		}
	}
}
