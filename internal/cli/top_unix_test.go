//go:build !windows

package cli

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/recording"
	"github.com/tenterhook/tenterhook/journal"
)

// console is a terminal that tenterhook runs on, and what its screen shows.
type console struct {
	t      *testing.T
	master *os.File
	tty    *os.File
	screen vt10x.Terminal
	code   chan int

	mu  sync.Mutex // guards raw
	raw strings.Builder
}

// onTerminal runs a command on a terminal of a size.
func onTerminal(t *testing.T, cols, rows int, args ...string) *console {
	t.Helper()
	return onTerminalOf(t, cols, rows, func(ctx context.Context, tty *os.File) int {
		return Main(ctx, args, Streams{In: tty, Out: tty, Err: tty})
	})
}

// onTerminalOf runs what has a terminal of a size, and returns an exit code.
func onTerminalOf(t *testing.T, cols, rows int, run func(context.Context, *os.File) int) *console {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Skip("there are no terminals here:", err)
	}
	term := &console{t: t, master: master, tty: tty, screen: vt10x.New(vt10x.WithSize(cols, rows)), code: make(chan int, 1)}
	term.resize(cols, rows)
	go func() {
		b := bufio.NewReader(master)
		buf := make([]byte, 4096)
		for {
			n, err := b.Read(buf)
			if err != nil {
				return
			}
			term.mu.Lock()
			term.raw.Write(buf[:n])
			term.mu.Unlock()
			_, _ = term.screen.Write(buf[:n])
		}
	}()
	ctx, cancel := context.WithCancel(context.Background())
	go func() { term.code <- run(ctx, tty) }()
	t.Cleanup(func() {
		cancel()
		_ = tty.Close()
		_ = master.Close()
	})
	return term
}

func (term *console) resize(cols, rows int) {
	term.t.Helper()
	term.screen.Resize(cols, rows)
	if err := pty.Setsize(term.master, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)}); err != nil {
		term.t.Fatal(err)
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGWINCH) // it is not this process's own terminal
}

func (term *console) text() string { return term.screen.String() }

// shows waits until the screen shows all texts.
func (term *console) shows(wants ...string) string {
	term.t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		text, missing := term.text(), ""
		for _, want := range wants {
			if !strings.Contains(text, want) {
				missing = want
			}
		}
		if missing == "" {
			return text
		}
		if time.Now().After(end) {
			term.t.Fatalf("%q does not come\n%s", missing, text)
		}
	}
}

// lacks waits until the screen does not show a text any more.
func (term *console) lacks(text string) {
	term.t.Helper()
	for end := time.Now().Add(2 * time.Minute); strings.Contains(term.text(), text); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			term.t.Fatalf("%q does not go\n%s", text, term.text())
		}
	}
}

// keys presses keys, one after the other.
func (term *console) keys(list ...string) {
	term.t.Helper()
	for _, k := range list {
		if _, err := term.master.WriteString(k); err != nil {
			term.t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// ends waits for the command's exit code.
func (term *console) ends() int {
	term.t.Helper()
	select {
	case code := <-term.code:
		return code
	case <-time.After(2 * time.Minute):
		term.t.Fatalf("it does not end\n%s", term.text())
	}
	return -1
}

// recorded writes runs into the journal, as an agent's process does.
func recorded(t *testing.T, runs int, id string, change func(i int, r *hook.Record)) {
	t.Helper()
	rec, err := journal.NewRecorder(recording.Dir((&app{}).stateDir()), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range runs {
		if i%2000 == 1999 { // the queue is bounded
			if err := rec.Close(); err != nil {
				t.Fatal(err)
			}
			if rec, err = journal.NewRecorder(recording.Dir((&app{}).stateDir()), journal.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		r := hook.Record{Run: fmt.Sprintf("%s%06d", strings.ReplaceAll(id, "/", ""), i), Time: time.Now(), Event: hook.EventPreToolUse, Tool: "Bash", Elapsed: time.Millisecond,
			Base: hook.Base{SessionID: "session-one", Agent: "claude"}, Payload: []byte(`{}`),
			Outcome: &hook.Outcome{Results: []hook.Result{{Hook: &hook.Hook{ID: id}, Status: hook.StatusSuccess, Elapsed: time.Duration(1+i%9) * time.Millisecond}}}}
		if change != nil {
			change(i, &r)
		}
		rec.Record(r)
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
}

func newTopUser(t *testing.T) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("TERM", "vt220")
	t.Setenv("NO_COLOR", "")
	for _, name := range []string{"CONFIG", "DATA", "STATE", "CACHE", "RUNTIME"} {
		t.Setenv("XDG_"+name+"_HOME", filepath.Join(home, strings.ToLower(name)))
	}
	t.Setenv("XDG_RUNTIME_DIR", filepath.Join(home, "run"))
	for _, name := range []string{"guard", "slow"} {
		dir := filepath.Join(home, "config", "tenterhook", "hooks", name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "HOOK.md"), []byte("+++\nevent = \"PreToolUse\"\ncommand = \"exit 2\"\n+++\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(home)
}

func TestTopShowsRunsAsTheyComeOnASmallTerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	newTopUser(t)
	recorded(t, 3, "user/guard", nil)
	term := onTerminal(t, 80, 24, "top")
	term.shows("tenterhook top", "user/guard", "PreToolUse Bash", "q quit")
	recorded(t, 2, "user/slow", func(i int, r *hook.Record) {
		r.Outcome.Verdict, r.Outcome.Results[0].Status = hook.Deny, hook.StatusBlocked
		r.Outcome.Results[0].Output, r.Outcome.Results[0].Reason = &hook.Output{Verdict: hook.Deny}, "not \x1b[2Jthis \x1b]0;title\x07way"
	})
	term.shows("user/slow", "deny", "dd")
	term.keys("f")
	term.shows("failures and denials")
	term.keys("\t", "\r")
	text := term.shows("run userslow", `not \x1b[2Jthis`, "Esc back")
	if strings.Contains(text, "title\x07") {
		t.Error("a control character reached the screen")
	}
	term.keys("\x1b")
	term.lacks("run userslow") // before that, Esc and another key are one
	term.keys("/", "g", "u", "a", "r", "d", "\r")
	term.shows("filter: guard")
	term.keys("\x1b")
	term.lacks("filter: guard")
	term.keys("d")
	term.shows("disable user/", "2 for an hour")
	term.keys("2")
	term.shows("is switched off for 1h", "off user/")
	if off, err := (&app{}).switchedOff(); err != nil || len(off) != 1 {
		t.Errorf("switched off: %v, %v", off, err)
	}
	term.keys("q")
	if code := term.ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	term.mu.Lock()
	defer term.mu.Unlock()
	if raw := term.raw.String(); strings.Contains(raw, "\x1b]0;title") || strings.Contains(raw, "title\x07") || !strings.Contains(raw, "\x1b[?1049l") {
		t.Error("a payload reached the terminal, or the terminal was not given back")
	}
}

func TestTopShowsAllPanesOnALargeTerminalAndFollowsItsSize(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	newTopUser(t)
	recorded(t, 10_000, "user/guard", nil)
	term := onTerminal(t, 140, 40, "top")
	text := term.shows("user/guard", "10000", "SESSION", "session-one", "OPEN BREAKER", "every breaker is closed", "LATENCY", "OUTCOME")
	if n := strings.Count(text, "PreToolUse Bash"); n < 15 {
		t.Errorf("%d results are on the screen\n%s", n, text)
	}
	term.resize(80, 24)
	term.lacks("OPEN BREAKER")
	term.shows("q quit")
	term.keys("\t", "\t")
	term.shows("AGENT", "session-one")
	term.keys("\x03")
	if code := term.ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// The smallest terminal shows which hooks there are, and how to continue.
func TestTopShowsHooksOnATinyTerminalWithoutColours(t *testing.T) {
	newTopUser(t)
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("NO_COLOR", "1")
	recorded(t, 3, "user/guard", func(_ int, r *hook.Record) {
		r.Outcome.Results[0].Status, r.Outcome.Results[0].Failure = hook.StatusFailed, hook.FailureTimeout
	})
	term := onTerminal(t, 40, 10, "top")
	text := term.shows("user/guard", "timeout", "? help  q quit")
	if n := strings.Count(text, "user/guard"); n != 4 {
		t.Errorf("results do not name their hooks\n%s", text)
	}
	term.keys("q")
	if code := term.ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	term.mu.Lock()
	defer term.mu.Unlock()
	if coloured := regexp.MustCompile(`\x1b\[[0-9;]*(3[0-7]|4[0-7]|9[0-7])m`).FindString(term.raw.String()); coloured != "" {
		t.Errorf("a colour was sent: %q", coloured)
	}
}

func TestTopSaysWhatToUseWithoutATerminal(t *testing.T) {
	newTopUser(t)
	var out, complaint strings.Builder
	if code := Main(t.Context(), []string{"top"}, Streams{In: strings.NewReader(""), Out: &out, Err: &complaint}); code != 1 || !strings.Contains(complaint.String(), "use 'tenterhook log -f'") {
		t.Errorf("exit code %d, %s", code, complaint.String())
	}
	t.Setenv("TERM", "dumb")
	term := onTerminal(t, 80, 24, "top")
	if code := term.ends(); code != 1 {
		t.Errorf("exit code %d on a dumb terminal", code)
	}
	term.shows("tenterhook log -f")
}
