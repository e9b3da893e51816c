package process

import (
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// waiter waits for a child's descriptors in poll(2).
type waiter struct {
	poll [slots]unix.PollFd // those not waited for are -1, which poll passes over

	mu   sync.Mutex
	bell int // what wake writes to; -1 once closed
}

func (w *waiter) open() error {
	r, bell, err := newPipe()
	if err != nil {
		return os.NewSyscallError("pipe", err)
	}
	for i := range w.poll {
		w.poll[i] = unix.PollFd{Fd: -1, Events: unix.POLLIN}
	}
	w.poll[slotStdin].Events = unix.POLLOUT
	w.poll[slotWake].Fd, w.bell = int32(r), bell
	return nil
}

func (w *waiter) arm() error { return nil }

// watch begins to wait for a descriptor, forget ends that.
func (w *waiter) watch(slot, fd int) error { w.poll[slot].Fd = int32(fd); return nil }
func (w *waiter) forget(slot, _ int)       { w.poll[slot].Fd = -1 }

// wait returns what has happened, or nothing once it is until; the zero time is never.
func (w *waiter) wait(until time.Time) events {
	patience := -1
	if !until.IsZero() {
		const most = time.Hour // a longer one would overflow poll's int
		patience = int((min(max(time.Until(until), 0), most) + time.Millisecond - 1) / time.Millisecond)
	}
	if n, err := unix.Poll(w.poll[:], patience); err != nil || n == 0 {
		return 0
	}
	var ready events
	for i := range w.poll {
		if w.poll[i].Revents != 0 {
			ready |= 1 << i
		}
	}
	if ready.has(slotWake) {
		var b [1]byte
		unix.Read(int(w.poll[slotWake].Fd), b[:])
	}
	return ready
}

// wake makes wait return. It may be called by anybody, also after close.
func (w *waiter) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bell >= 0 {
		unix.Write(w.bell, []byte{0})
	}
}

func (w *waiter) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	unix.Close(int(w.poll[slotWake].Fd))
	unix.Close(w.bell)
	w.bell = -1
}
