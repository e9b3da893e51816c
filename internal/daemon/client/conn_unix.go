//go:build linux || darwin

package client

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// conn is a connection to the daemon. Reads and writes block their thread: this
// process does nothing else.
type conn int

// dial connects, within a limit that also holds for each read and write.
func dial(socket string, limit time.Duration) (conn, error) {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return -1, err
	}
	syscall.CloseOnExec(fd)
	c := conn(fd)
	c.limit(limit) // a daemon that is stopped may have a full backlog
	if err := retry(func() error { return syscall.Connect(fd, &syscall.SockaddrUnix{Name: socket}) }); err != nil {
		c.close()
		return -1, err
	}
	return c, nil
}

func (c conn) close() { syscall.Close(int(c)) }

// limit is how long one read or write may wait; 0 = for ever.
func (c conn) limit(d time.Duration) {
	if d < 0 {
		d = time.Millisecond
	}
	tv := syscall.NsecToTimeval(d.Nanoseconds())
	_ = syscall.SetsockoptTimeval(int(c), syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &tv)
	_ = syscall.SetsockoptTimeval(int(c), syscall.SOL_SOCKET, syscall.SO_SNDTIMEO, &tv)
}

// read fills b.
func (c conn) read(b []byte) error {
	for len(b) > 0 {
		n, err := c.some(b)
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// some reads what there is, and waits for it.
func (c conn) some(b []byte) (n int, err error) {
	for {
		n, err = syscall.Read(int(c), b)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err == nil && n == 0:
			return 0, io.ErrUnexpectedEOF
		default:
			return n, err
		}
	}
}

// reader reads a connection in large pieces. A daemon sends little.
type reader struct {
	from   conn
	buffer [1 << 10]byte
	ahead  []byte // read and not asked for yet
}

// read fills b.
func (r *reader) read(b []byte) error {
	for len(b) > 0 {
		if len(r.ahead) > 0 {
			n := copy(b, r.ahead)
			b, r.ahead = b[n:], r.ahead[n:]
			continue
		}
		if len(b) >= len(r.buffer) {
			return r.from.read(b)
		}
		n, err := r.from.some(r.buffer[:])
		if err != nil {
			return err
		}
		r.ahead = r.buffer[:n]
	}
	return nil
}

func (c conn) write(b []byte) error { return writeAll(int(c), b) }

func writeAll(fd int, b []byte) error {
	for len(b) > 0 {
		n, err := syscall.Write(fd, b)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// soon is how long what is most likely there may take to come.
const soon = 20 * time.Millisecond

// readAll reads a descriptor to its end, within MaxFrame. It calls waits before it
// waits for long.
func readAll(fd int, waits func()) ([]byte, error) {
	b := make([]byte, 0, 8<<10)
	for {
		if !readable(fd, soon) {
			waits()
		}
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := syscall.Read(fd, b[len(b):cap(b)])
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return nil, err
		case n == 0:
			return b, nil
		default:
			b = b[:len(b)+n]
		}
		if len(b) > MaxFrame/2 {
			return nil, errors.New("it is larger than 32 MiB")
		}
	}
}

func retry(f func() error) error {
	for {
		if err := f(); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// Umask returns the mask of this process, which must do nothing else meanwhile.
func Umask() int {
	old := syscall.Umask(0o077)
	syscall.Umask(old)
	return old
}

// lockFile waits for an exclusive lock.
func lockFile(path string) (fd int, err error) {
	fd, err = syscall.Open(path, syscall.O_RDWR|syscall.O_CREAT|syscall.O_CLOEXEC|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: path, Err: err}
	}
	if err := retry(func() error { return syscall.Flock(fd, syscall.LOCK_EX) }); err != nil {
		syscall.Close(fd)
		return -1, &os.PathError{Op: "lock", Path: path, Err: err}
	}
	return fd, nil
}
