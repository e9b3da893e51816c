//go:build linux || darwin

package process

import "golang.org/x/sys/unix"

// inheritNothing makes all descriptors of the host above 2 close-on-exec, so that a child gets its
// three and no more. Go's own are so from birth; others come from the parent of the host, or from a
// C library. To find these among many, or to close them one by one in the child, would cost more than
// a short hook takes; so the flag is set on the host's side, and stays.
func inheritNothing() {
	if closeOnExecFrom(3) != nil {
		closeOnExecEach()
	}
}

// closeOnExecEach is for systems that cannot do so in one call.
func closeOnExecEach() {
	const enough = 64 // so many closed ones in a row end the search
	for fd, gap := 3, 0; gap < enough; fd++ {
		gap++
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil {
			continue
		}
		gap = 0
		if flags&unix.FD_CLOEXEC == 0 {
			unix.CloseOnExec(fd)
		}
	}
}
