//go:build unix

package worker

import (
	"os"

	"golang.org/x/sys/unix"
)

// pending returns what reads from a file what is there already, without waiting, and tells whether the
// file has ended.
func pending(f *os.File) func([]byte) (int, bool) {
	conn, err := f.SyscallConn()
	if err != nil {
		return func([]byte) (int, bool) { return 0, true }
	}
	var buf []byte
	var n int
	look := func(fd uintptr) bool {
		n, err = unix.Read(int(fd), buf)
		return true
	}
	return func(b []byte) (int, bool) {
		buf, n, err = b, 0, nil
		if conn.Read(look) != nil {
			return 0, false // it was closed, or interrupted: so is the next read
		}
		return max(n, 0), n == 0 && err == nil
	}
}
