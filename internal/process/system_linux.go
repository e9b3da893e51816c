package process

import (
	"math"
	"syscall"

	"golang.org/x/sys/unix"
)

// fork starts a program as the leader of its own group, to be killed when the calling thread ends. The
// descriptor it returns becomes readable when the leader has exited. A program that is stopped waits, before its
// first instruction, for the calling thread to let it go.
func fork(path string, argv []string, attr *syscall.ProcAttr, stopped bool) (pid, exit int, err error) {
	exit = closed
	inheritNothing()
	attr.Sys = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, PidFD: &exit, Ptrace: stopped}
	pid, err = syscall.ForkExec(path, argv, attr)
	if err != nil {
		return pid, exit, err
	}
	if exit, err = exitOf(pid, exit); err != nil {
		unix.Kill(-pid, unix.SIGKILL)
		reap(pid)
	}
	return pid, exit, err
}

// ownUmask gives the calling thread a mask of its own, and a working directory. The thread must end
// with its goroutine, since the host may change both later. Threads that Go makes of it later are made by another one, as
// long as the goroutine is locked to it.
func ownUmask() bool { return unix.Unshare(unix.CLONE_FS) == nil }

// exitOf is the pidfd of a child, or where there is none what stands in for it.
func exitOf(pid, pidfd int) (exit int, err error) {
	if pidfd >= 0 {
		return pidfd, nil
	}
	return watchExit(pid)
}

// watchExit stands in for a pidfd before Linux 5.3 and in sandboxes without one: a goroutine waits for
// the exit, without reaping, and breaks a pipe.
func watchExit(pid int) (exit int, err error) {
	r, w, err := newPipe()
	if err != nil {
		return closed, err
	}
	go func() {
		for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
		}
		unix.Close(w)
	}()
	return r, nil
}

func newPipe() (r, w int, err error) {
	var p [2]int
	err = unix.Pipe2(p[:], unix.O_CLOEXEC)
	return p[0], p[1], err
}

// closeOnExecFrom needs Linux 5.11.
func closeOnExecFrom(first uint) error {
	return unix.CloseRange(first, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
}
