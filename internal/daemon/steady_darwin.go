package daemon

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot names the start of the system, and how long ago it was; "" = not known.
func sinceBoot() (boot string, up time.Duration) {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	var now unix.Timespec
	if err != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC_RAW, &now) != nil {
		return "", 0
	}
	return id, time.Duration(now.Nano())
}
