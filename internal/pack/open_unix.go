//go:build unix

package pack

import "syscall"

// nonblock keeps a pipe in the place of a file from being waited for.
const nonblock = syscall.O_NONBLOCK

// hasModes says that the file system knows which files can be executed.
const hasModes = true
