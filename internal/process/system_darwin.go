package process

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// fork starts a program as the leader of its own group. The descriptor it returns, a kqueue, becomes
// readable when the leader has exited.
func fork(path string, argv []string, attr *syscall.ProcAttr, stopped bool) (pid, exit int, err error) {
	exit, err = unix.Kqueue()
	if err != nil {
		return 0, -1, err
	}
	inheritNothing() // the queue neither
	attr.Sys = &syscall.SysProcAttr{Setpgid: true}
	pid, err = syscall.ForkExec(path, argv, attr)
	if err != nil {
		unix.Close(exit)
		return 0, -1, err
	}
	watchExit(exit, pid)
	return pid, exit, nil
}

// ownUmask: here a mask belongs to the whole process.
func ownUmask() bool { return false }

// watchExit makes the exit of pid an event of the queue. Of a child that has exited already the kernel
// says ESRCH; then the event is one of our own making.
func watchExit(queue, pid int) {
	ev := []unix.Kevent_t{{Ident: uint64(pid), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD, Fflags: unix.NOTE_EXIT}}
	if _, err := unix.Kevent(queue, ev, nil, nil); err == nil {
		return
	}
	ev[0] = unix.Kevent_t{Ident: 1, Filter: unix.EVFILT_TIMER, Flags: unix.EV_ADD | unix.EV_ONESHOT, Data: 0}
	unix.Kevent(queue, ev, nil, nil)
}

// newPipe makes a pipe that no fork of this host can leak: there is no pipe2 here.
func newPipe() (r, w int, err error) {
	var p [2]int
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := unix.Pipe(p[:]); err != nil {
		return -1, -1, err
	}
	unix.CloseOnExec(p[0])
	unix.CloseOnExec(p[1])
	return p[0], p[1], nil
}

func closeOnExecFrom(uint) error { return unix.ENOSYS }

func openCensus() int { return -1 }

// mayHaveChildren: here the guard is for the leader too.
func mayHaveChildren(int) bool { return true }

const sweepFinds = false

// sweep kills the group. Who left it can not be found here, and who was in it is not told.
func (c *child) sweep(time.Time) []leftover {
	unix.Kill(-c.pid, unix.SIGKILL)
	return nil
}
