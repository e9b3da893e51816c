package process

import (
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// waiter waits for a child's descriptors: an epoll that is itself watched by Go's poller, so that one
// goroutine can wait for all of them, with a deadline, and holds no processor of Go's meanwhile. (In a
// plain poll(2) it would: the runtime then wakes every 70 µs to look whether it should be taken back,
// mostly on the processor that the child would need.)
type waiter struct {
	epoll int
	file  *os.File // epoll, as Go's poller sees it
	conn  syscall.RawConn
	look  func(uintptr) bool // what conn calls, made once
	ready events
	woken atomic.Bool // by wake, not yet told
}

// open takes the one descriptor that is needed, arm does the rest: while the child is starting.
func (w *waiter) open() (err error) {
	w.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	return os.NewSyscallError("epoll_create1", err)
}

func (w *waiter) arm() (err error) {
	if err := unix.SetNonblock(w.epoll, true); err != nil { // else Go would not poll it
		return os.NewSyscallError("fcntl", err)
	}
	w.file = os.NewFile(uintptr(w.epoll), "epoll")
	w.conn, err = w.file.SyscallConn()
	w.look = w.collect
	return err
}

// watch begins to wait for a descriptor.
func (w *waiter) watch(slot, fd int) error {
	what := uint32(unix.EPOLLIN)
	if slot == slotStdin {
		what = unix.EPOLLOUT
	}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(w.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: what, Fd: int32(slot)}))
}

// forget ends that. To close the descriptor is not enough: a fork elsewhere in the host may hold it.
func (w *waiter) forget(_, fd int) { unix.EpollCtl(w.epoll, unix.EPOLL_CTL_DEL, fd, nil) }

// wait returns what has happened, or nothing once it is until; the zero time is never.
func (w *waiter) wait(until time.Time) events {
	w.file.SetReadDeadline(until) // anew each time: wake's may stand there
	w.ready = 0
	if !w.woken.Load() {
		w.conn.Read(w.look)
	}
	if w.woken.Swap(false) {
		w.ready |= 1 << slotWake
	}
	return w.ready
}

// collect asks the epoll, without waiting.
func (w *waiter) collect(uintptr) bool {
	var list [slots]unix.EpollEvent
	n, _ := unix.EpollWait(w.epoll, list[:], 0)
	for _, e := range list[:max(n, 0)] {
		w.ready |= 1 << e.Fd
	}
	return w.ready != 0
}

// wake makes wait return. It may be called by anybody, also after close.
func (w *waiter) wake() {
	w.woken.Store(true)
	w.file.SetReadDeadline(time.Unix(0, 1))
}

func (w *waiter) close() {
	if w.file == nil {
		unix.Close(w.epoll)
		return
	}
	w.file.Close()
}
