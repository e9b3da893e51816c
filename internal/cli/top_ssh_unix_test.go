//go:build !windows

package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/built"
)

// sshd starts a server for the user of the test, and returns the arguments with
// which ssh reaches it. It skips the test where there is none.
func sshd(t *testing.T) []string {
	t.Helper()
	server, err := exec.LookPath("sshd")
	if err != nil {
		server = "/usr/sbin/sshd"
	}
	for _, program := range []string{server, "ssh", "ssh-keygen"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	me, err := user.Current()
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	for _, key := range []string{"host", "me"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
	_ = l.Close()
	config := filepath.Join(dir, "config")
	if err := os.WriteFile(config, []byte("ListenAddress 127.0.0.1\nPidFile none\nStrictModes no\nUsePAM no\nHostKey "+filepath.Join(dir, "host")+"\nAuthorizedKeysFile "+filepath.Join(dir, "me.pub")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	daemon := exec.Command(server, "-D", "-e", "-f", config, "-p", port)
	if err := daemon.Start(); err != nil {
		t.Skip(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = daemon.Wait() }()
	t.Cleanup(func() { _ = daemon.Process.Kill(); <-ended })
	ssh := []string{"-i", filepath.Join(dir, "me"), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=" + filepath.Join(dir, "known"), "-o", "BatchMode=yes", "-o", "LogLevel=ERROR", "-p", port, me.Username + "@127.0.0.1"}
	for end := time.Now().Add(15 * time.Second); exec.Command("ssh", append(ssh, "true")...).Run() != nil; time.Sleep(100 * time.Millisecond) {
		select {
		case <-ended:
			t.Skip("the server does not run here")
		default:
		}
		if time.Now().After(end) {
			t.Skip("the server lets nobody in here")
		}
	}
	return ssh
}

func TestTopWorksOverSSH(t *testing.T) {
	ssh := sshd(t)
	bin := t.TempDir()
	if err := built.Into(bin, "cmd/tenterhook"); err != nil {
		t.Fatal(err)
	}
	newTopUser(t)
	recorded(t, 3, "user/guard", nil)
	line := "env TERM=vt220"
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"} {
		line += " " + shellQuote(name+"="+os.Getenv(name))
	}
	term := onTerminalOf(t, 80, 24, func(ctx context.Context, tty *os.File) int {
		cmd := exec.CommandContext(ctx, "ssh", append(append([]string{"-tt"}, ssh...), line+" "+shellQuote(filepath.Join(bin, "tenterhook"))+" top")...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		var exit *exec.ExitError
		if err := cmd.Run(); errors.As(err, &exit) {
			return exit.ExitCode()
		} else if err != nil {
			return -1
		}
		return 0
	})
	term.shows("tenterhook top", "user/guard", "PreToolUse Bash", "q quit")
	term.keys("?")
	text := term.shows("Shift+Tab", "Esc back")
	if strings.Contains(text, "user/guard") {
		t.Errorf("the help does not cover the view\n%s", text)
	}
	term.keys("\x1b")
	term.shows("user/guard")
	term.keys("q")
	if code := term.ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
