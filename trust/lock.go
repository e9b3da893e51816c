package trust

import (
	"fmt"
	"os"
	"time"
)

// lock waits for the lock that the file at path stands for, which goroutines of
// one process contend for too. A process that stopped while it held it is
// not waited for for ever.
func lock(path string, wait time.Duration) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|nonblock, 0o600)
	if err != nil {
		return nil, unwritten(path, err)
	}
	pause := time.Millisecond
	for end := time.Now().Add(wait); ; time.Sleep(pause) {
		got, err := tryLock(f)
		if got {
			return func() { _ = f.Close() }, nil
		}
		if err != nil {
			_ = f.Close()
			return nil, unwritten(path, err)
		}
		if time.Now().After(end) {
			_ = f.Close()
			return nil, &Problem{CodeBusy, path, fmt.Sprintf("is held by another process for more than %s", wait), "find that process and end it, or try again"}
		}
		pause = min(2*pause, 20*time.Millisecond)
	}
}
