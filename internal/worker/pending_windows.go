package worker

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

var peekNamedPipe = windows.NewLazySystemDLL("kernel32.dll").NewProc("PeekNamedPipe")

// pending returns what reads from a file what is there already, without waiting, and tells whether the
// file has ended.
func pending(f *os.File) func([]byte) (int, bool) {
	conn, err := f.SyscallConn()
	if err != nil {
		return func([]byte) (int, bool) { return 0, true }
	}
	return func(buf []byte) (int, bool) {
		var there uint32
		var ok uintptr
		err := conn.Control(func(fd uintptr) {
			ok, _, _ = syscall.SyscallN(peekNamedPipe.Addr(), fd, 0, 0, 0, uintptr(unsafe.Pointer(&there)), 0)
		})
		if err != nil || ok == 0 {
			return 0, true
		}
		if there == 0 {
			return 0, false
		}
		n, err := f.Read(buf[:min(len(buf), int(there))])
		return n, err != nil
	}
}
