package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal returns the two ends of a terminal that is width wide.
func terminal(t *testing.T, width uint16) (keyboard, screen *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { keyboard.Close() })
	fd := int(keyboard.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Skip(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Skip(err)
	}
	screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { screen.Close() })
	if err := unix.IoctlSetWinsize(int(screen.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: width, Row: 24}); err != nil {
		t.Skip(err)
	}
	return keyboard, screen
}

func TestListFitsTheTerminalThatItIsPrintedOn(t *testing.T) {
	dir := hermetic(t)
	manifest := "+++\nevent = \"PreToolUse\"\ncommand = \"true\"\n[requires]\nbins = [\"a-program-that-is-nowhere-to-be-found\"]\n+++\n"
	path := filepath.Join(dir, "hooks", "a-hook-with-a-rather-long-name", "HOOK.md")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(manifest), 0o644); err != nil {
		t.Fatal(err)
	}
	_, full, _ := call(t, "list", "--dir", "hooks")
	row := strings.Split(full, "\n")[1]
	if !strings.Contains(row, "a-hook-with-a-rather-long-name") || !strings.Contains(row, "a-program-that-is-nowhere-to-be-found") {
		t.Errorf("what is no terminal gets everything on a line: %q", full)
	}
	for _, width := range []int{50, 80, 300} {
		keyboard, screen := terminal(t, uint16(width))
		if code := Main(context.Background(), []string{"list", "--dir", "hooks"}, Streams{strings.NewReader(""), screen, io.Discard}); code != 0 {
			t.Fatal(code)
		}
		fmt.Fprintln(screen, "END")
		shown := make([]byte, 0, 4096)
		for buf := make([]byte, 4096); !strings.Contains(string(shown), "END"); {
			n, err := keyboard.Read(buf)
			if err != nil {
				t.Fatal(err)
			}
			shown = append(shown, buf[:n]...)
		}
		wrapped := false
		for line := range strings.Lines(string(shown)) {
			if line = strings.TrimRight(line, "\r\n"); visible(line) > width {
				t.Errorf("width %d: %q", width, line)
			}
			wrapped = wrapped || strings.HasPrefix(line, "    ")
		}
		if wrapped != (width < 300) {
			t.Errorf("width %d: the reason is on a line of its own: %v\n%s", width, wrapped, shown)
		}
	}
}
