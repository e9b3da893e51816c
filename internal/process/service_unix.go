//go:build linux || darwin

package process

import (
	"os"
	"runtime"
	"time"

	"github.com/tenterhook/tenterhook/internal/sandbox"
	"golang.org/x/sys/unix"
)

// keeper attends to the child of a service: the goroutine of keep, which stays on the thread that
// forked, since the child dies with that.
type keeper struct{ child *child }

// start starts the child, and the goroutine that stays with it. Its error is the system's.
func (s *Service) start(spec *Spec, token string, noStdin bool) error {
	s.child = newChild(spec, token, time.Time{})
	s.child.stays = &s.stderr
	started := make(chan error)
	if spec.Umask == nil && !spec.Sandbox.Contains() {
		go func() {
			if s.keep(noStdin, started, nil) {
				s.ended(s.child.res)
			}
		}()
		return <-started
	}
	go func() { // see run
		kept := false
		err := elsewhere(spec.Sandbox, func(in *sandbox.Inside) { kept = s.keep(noStdin, started, in) })
		if err != nil {
			started <- err
		}
		if kept {
			s.ended(s.child.res)
		}
	}()
	return <-started
}

// halt has the child stopped; it does not wait for that.
func (s *Service) halt() { s.child.wait.wake() }

// keep stays with the child from its start to its end, and reports whether it was started.
func (s *Service) keep(noStdin bool, started chan<- error, in *sandbox.Inside) bool {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c := s.child
	c.enter(in)
	err := c.wait.open()
	if err == nil {
		if err = s.begin(noStdin); err != nil {
			c.closeAll()
		}
	}
	started <- err
	if err != nil {
		return false
	}
	c.converse()
	c.finish()
	c.closeAll()
	return true
}

// begin starts the child and takes our ends of its stdin and stdout out of its hands: what is left to
// it is stderr, and the child's end.
func (s *Service) begin(noStdin bool) error {
	c := s.child
	defer c.closeTheirs()
	if err := c.pipes(); err != nil {
		return err
	}
	if noStdin {
		if err := c.muzzle(); err != nil {
			return err
		}
	}
	for _, slot := range []int{slotStdin, slotStdout} {
		if fd := c.ours[slot]; fd >= 0 {
			if err := unix.SetNonblock(fd, true); err != nil { // so that Go polls it, with deadlines
				return os.NewSyscallError("fcntl", err)
			}
		}
	}
	if err := c.start(); err != nil {
		return err
	}
	stdin, stdout := c.ours[slotStdin], c.ours[slotStdout]
	c.ours[slotStdin], c.ours[slotStdout] = closed, closed
	if err := c.attend(); err != nil {
		closeFDs(stdin, stdout)
		return err
	}
	s.pid = c.pid
	s.stdout = os.NewFile(uintptr(stdout), "stdout of "+c.spec.Path)
	s.stdin = os.NewFile(uintptr(stdin), "stdin of "+c.spec.Path) // nil if it is closed
	return nil
}

// muzzle makes the child's stdin the null device.
func (c *child) muzzle() error {
	null, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: os.DevNull, Err: err}
	}
	closeFDs(c.ours[slotStdin], c.theirs[slotStdin])
	c.ours[slotStdin], c.theirs[slotStdin] = closed, null
	return nil
}

// closeFDs closes those that are not closed.
func closeFDs(fds ...int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}
