//go:build !windows

package trust

import "golang.org/x/sys/unix"

// nonblock makes opening a pipe return at once.
const nonblock = unix.O_NONBLOCK

// modes says that files have a mode that lets them be executed.
const modes = true
