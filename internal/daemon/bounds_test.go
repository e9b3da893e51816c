//go:build linux || darwin

package daemon_test

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tenterhook/tenterhook/internal/daemon"
)

// Clients that say nothing, or announce much, keep no call waiting.
func TestSilentClientsHoldNoCallUp(t *testing.T) {
	u := newUser(t, guard)
	u.wantSilent(u.claude("PreToolUse", u.shell("ls")))
	before := u.daemon()
	var open []net.Conn
	for i := range 300 {
		c, err := net.Dial("unix", before.Socket)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i%2 == 0 { // the head of a frame of 64 MiB
			_, _ = c.Write(binary.BigEndian.AppendUint32([]byte{'t', 'h', 2, 'c'}, 64<<20))
		}
		open = append(open, c)
	}
	u.wantDenied(u.claude("PreToolUse", u.shell("rm x")), "not here")
	if resident := u.resident(u.daemon().PID); resident > 200<<20 {
		t.Errorf("%d bytes are resident", resident)
	}
	silent := open[1]
	until(t, "the silent client is hung up on", func() bool {
		_, err := silent.Read(make([]byte, 1))
		return err != nil
	})
}

// A client of another protocol makes the daemon give way, with no call lost.
func TestAClientOfAnotherProtocolMakesTheDaemonGiveWay(t *testing.T) {
	u := newUser(t, guard)
	for _, version := range []byte{0, 1, 3, 255} {
		u.wantSilent(u.claude("PreToolUse", u.shell("ls")))
		before := u.daemon()
		c, err := net.Dial("unix", before.Socket)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Write([]byte{'t', 'h', version, 'c', 0, 0, 0, 0})
		u.gone(before.PID)
		c.Close()
		u.wantDenied(u.claude("PreToolUse", u.shell("rm x")), "not here")
	}
}

// Thousands of sessions and many projects leave a daemon of bounded size.
func TestManySessionsAndProjectsAreBounded(t *testing.T) {
	if _, err := os.Stat("/proc/self/statm"); err != nil {
		t.Skip("memory is read from /proc")
	}
	u := newUser(t, guard)
	n := 300
	if os.Getenv("TENTERHOOK_CHAOS") != "" {
		n = 5000
	}
	for i := range n {
		other := *u
		other.work = filepath.Join(u.home, fmt.Sprint("p", i%40))
		if i < 40 {
			u.mkdir(filepath.Join(other.work, ".git"))
		}
		other.wantSilent(other.claude("PreToolUse", other.shell("ls", "session_id", fmt.Sprint("s", i))))
	}
	s := u.daemon()
	if s.Sessions > 256 || len(s.Workspaces) > 16 {
		t.Errorf("%d sessions, %d workspaces", s.Sessions, len(s.Workspaces))
	}
	if resident := u.resident(s.PID); resident > 150<<20 {
		t.Errorf("%d bytes are resident", resident)
	}
}

// What stands in the place of the log and is no file of the user's is not written to.
func TestTheLogIsAFileOrNothing(t *testing.T) {
	u := newUser(t, guard)
	log, other := filepath.Join(u.home, ".local/state/tenterhook/daemon.log"), filepath.Join(u.home, "other")
	u.write(other, "mine\n")
	for what, put := range map[string]func() error{
		"a link":      func() error { return os.Symlink(other, log) },
		"a pipe":      func() error { return syscall.Mkfifo(log, 0o600) },
		"a directory": func() error { return os.Mkdir(log, 0o700) },
	} {
		u.mkdir(filepath.Dir(log))
		if err := put(); err != nil {
			t.Fatal(err)
		}
		u.wantDenied(u.claude("PreToolUse", u.shell("rm x")), "not here")
		u.wantDenied(u.run(u.shell("rm x"), nil, "tenterhook-bridge", "--direct", "claude", "PreToolUse"), "not here")
		if s, err := daemon.Ask(u.env); err == nil {
			_ = syscall.Kill(s.PID, syscall.SIGTERM)
			u.gone(s.PID)
		}
		if text := u.read(other); text != "mine\n" || strings.Contains(text, "daemon") {
			t.Errorf("%s: it was written to: %q", what, text)
		}
		if err := os.Remove(log); err != nil {
			t.Fatal(err)
		}
	}
}
