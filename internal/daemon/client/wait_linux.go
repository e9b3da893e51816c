package client

import (
	"syscall"
	"time"
)

// readable waits until a descriptor below 64 has something to read, or its end.
func readable(fd int, within time.Duration) bool {
	var set syscall.FdSet
	set.Bits[0] = 1 << fd
	tv := syscall.NsecToTimeval(within.Nanoseconds())
	n, err := syscall.Select(fd+1, &set, nil, nil, &tv)
	return err == nil && n > 0
}
