//go:build linux || darwin

package daemon

import (
	"context"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"
)

// takePlace takes the lock of the place and listens there.
func (s *server) takePlace(ctx context.Context) error {
	if err := s.place.Make(); err != nil {
		return fmt.Errorf("take the daemon's place: %w", err)
	}
	if err := s.takeLock(ctx); err != nil {
		return err
	}
	fresh := s.place.Socket + ".new"
	_ = os.RemoveAll(fresh)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: fresh, Net: "unix"})
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	l.SetUnlinkOnClose(false)
	if err = os.Chmod(fresh, 0o600); err == nil {
		err = os.Rename(fresh, s.place.Socket)
		if err != nil && os.RemoveAll(s.place.Socket) == nil { // a directory stands there
			err = os.Rename(fresh, s.place.Socket)
		}
	}
	if err != nil {
		l.Close()
		return fmt.Errorf("listen: %w", err)
	}
	s.listener = l
	return nil
}

// takeLock holds the lock file. A daemon that holds it and cannot be reached is
// asked to end, and then made to.
func (s *server) takeLock(ctx context.Context) error {
	f, err := os.OpenFile(s.place.Lock, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return fmt.Errorf("take the daemon's place: %w", err)
	}
	signal, patience := syscall.SIGTERM, time.Now().Add(takeoverWithin)
	for syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, wholeFile()) != nil {
		holder := holderOf(f)
		switch {
		case !s.opts.Takeover, ctx.Err() != nil:
			f.Close()
			return &HeldError{PID: holder}
		case time.Now().Before(patience):
		case signal == syscall.SIGTERM:
			signal, patience = syscall.SIGKILL, time.Now().Add(takeoverWithin)
		default:
			f.Close()
			return fmt.Errorf("take the daemon's place: the daemon with pid %d does not end", holder)
		}
		if holder > 0 {
			_ = syscall.Kill(holder, signal)
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.lock = f
	return nil
}

func wholeFile() *syscall.Flock_t { return &syscall.Flock_t{Type: syscall.F_WRLCK} }

// holderOf is the process that holds the lock, by the kernel's word; 0 = none.
func holderOf(f *os.File) int {
	lock := wholeFile()
	if syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, lock) != nil || lock.Type == syscall.F_UNLCK {
		return 0
	}
	return int(lock.Pid)
}
