//go:build amd64 || arm64

package sandbox

import (
	"crypto/rand"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sys/unix"
)

// canary is an abstract socket of the host, outside every domain. A thread that cannot reach it is in a
// domain that scopes. Signals are no test for that: the threads of one process may always signal each other.
var canary = sync.OnceValues(func() (name string, err error) {
	name = "@tenterhook-canary-" + rand.Text()
	err = onFreeThread(func() error {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return errWithin
		}
		return unix.Bind(fd, &unix.SockaddrUnix{Name: name}) // and stays open as long as the process lives
	})
	return name, err
})

// errWithin is that a sandbox around this process forbids the sockets that a proof needs.
var errWithin = errors.New("this process may open no unix socket: it runs in a sandbox itself, and cannot prove that one within would hold")

// scope proves that one thread is in a domain that scopes. The zero value proves nothing.
type scope struct{ thread int }

// proveScope asks the canary on the calling thread, which must not be behind a filter yet.
func proveScope() (scope, error) {
	if _, errata := landlock(); errata&erratumSiblings == 0 {
		return scope{}, errors.New("this kernel's domains part the threads of a process")
	}
	name, err := canary()
	if err != nil {
		return scope{}, err
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return scope{}, err
	}
	defer unix.Close(fd)
	switch err := unix.Connect(fd, &unix.SockaddrUnix{Name: name}); err {
	case unix.EPERM:
		return scope{unix.Gettid()}, nil
	case nil:
		return scope{}, errors.New("the kernel took the domain and does not scope it")
	default:
		return scope{}, fmt.Errorf("the canary cannot be asked: %w", err)
	}
}

// reap kills everything in the domain of the thread that the proof is about. It is the one place that may
// say kill(-1), which is every process of the user where nothing scopes.
func (s scope) reap() {
	if s.thread != 0 && s.thread == unix.Gettid() {
		unix.Kill(-1, unix.SIGKILL)
	}
}
