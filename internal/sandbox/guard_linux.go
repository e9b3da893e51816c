//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"math"
	"syscall"

	"golang.org/x/sys/unix"
)

// guard is a shell in the outer domain. When the host is gone the pipe breaks; then it kills that domain, and
// removes the run's own directory.
type guard struct{ pid, pipe int }

const guardScript = `read -r line; kill -9 -1; [ -z "$1" ] || rm -rf -- "$1"`

// startGuard starts the guard of the calling thread, which is in the outer domain and not yet in the inner
// one. Without /bin/sh there is none.
func startGuard(own string) (guard, error) {
	none := guard{0, -1}
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return none, err
	}
	defer unix.Close(ends[0])
	// The host's descriptors are not the guard's: it would hold them open.
	unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	r := uintptr(ends[0])
	pid, err := syscall.ForkExec("/bin/sh", []string{"sh", "-c", guardScript, "sh", own}, &syscall.ProcAttr{
		Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, Files: []uintptr{r, r, r}, Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		unix.Close(ends[1])
		if errors.Is(err, unix.ENOENT) {
			err = nil
		}
		return none, err
	}
	return guard{pid, ends[1]}, nil
}

// end ends the guard. It must be called on a thread outside its domain.
func (g guard) end() {
	if g.pid == 0 {
		return
	}
	unix.Kill(g.pid, unix.SIGKILL)
	for {
		if _, err := unix.Wait4(g.pid, nil, 0, nil); err != unix.EINTR {
			break
		}
	}
	unix.Close(g.pipe)
}
