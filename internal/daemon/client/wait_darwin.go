package client

import (
	"syscall"
	"time"
)

// readable waits until a descriptor below 32 has something to read, or its end.
func readable(fd int, within time.Duration) bool {
	set := syscall.FdSet{}
	set.Bits[0] = 1 << fd
	tv := syscall.NsecToTimeval(within.Nanoseconds())
	return syscall.Select(fd+1, &set, nil, nil, &tv) == nil && set.Bits[0] != 0
}
