package top

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/journal"
)

// plain is a stand-in for the command line's way to make text safe.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			return '?'
		}
		return r
	}, s)
}

func newModel(width, height int) *model {
	m := &model{Options: Options{Text: plain}, ctx: context.Background(), state: newState(), started: time.Now()}
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	return m
}

func line(seq int64, id string) journal.Line {
	return journal.Line{Seq: seq, Run: fmt.Sprint("run", seq), Time: time.Now(), Hook: id, Event: hook.EventPreToolUse, Tool: "Bash", Agent: "claude", Session: "s",
		Result: journal.Result{Hook: id, Status: hook.StatusSuccess, ElapsedMS: 3}}
}

// press sends a key by its name.
func (m *model) press(names ...string) (cmd tea.Cmd) {
	keys := map[string]tea.Key{"enter": {Code: tea.KeyEnter}, "tab": {Code: tea.KeyTab}, "esc": {Code: tea.KeyEscape}, "down": {Code: tea.KeyDown}, "backspace": {Code: tea.KeyBackspace}}
	for _, name := range names {
		k, ok := keys[name]
		if !ok {
			k = tea.Key{Code: []rune(name)[0], Text: name}
		}
		_, cmd = m.Update(tea.KeyPressMsg(k))
	}
	return cmd
}

func (m *model) text() string { return ansi.Strip(strings.Join(m.screen(), "\n")) }

// colours are the only sequences that the screen may hold.
var colours = regexp.MustCompile(`\x1b\[[0-9;]*m`)

func TestScreenIsAsLargeAsTheWindowWhateverTextsHold(t *testing.T) {
	hostileText := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\x1b[2J\x1b[H", "\x1b]0;title\x07", "a\r\nb", "\x9b31m", "日本語日本語日本語", "👩‍👩‍👧‍👦👩‍👩‍👧‍👦", "e\u0301\u0301\u0301", "\u202eevil", strings.Repeat("x", 5000), "\t\t", ""}))
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(rapid.IntRange(1, 200).Draw(t, "width"), rapid.IntRange(1, 60).Draw(t, "height"))
		n := news{slow: true, off: map[string]string{}}
		for i := range rapid.IntRange(0, 40).Draw(t, "lines") {
			l := line(int64(i), hostileText.Draw(t, "hook"))
			l.Tool, l.Agent, l.Session, l.Event = hostileText.Draw(t, "tool"), hostileText.Draw(t, "agent"), hostileText.Draw(t, "session"), hook.Event(hostileText.Draw(t, "event"))
			l.ElapsedMS, l.Failure = rapid.Float64Range(0, 1e7).Draw(t, "ms"), hook.Failure(rapid.SampledFrom([]string{"", "timeout"}).Draw(t, "failure"))
			n.lines = append(n.lines, l)
			n.breakers = append(n.breakers, Breaker{Hook: l.Hook, By: l.Agent, Failures: i, RetryAt: time.Now().Add(time.Minute)})
			n.stats = append(n.stats, journal.HookStats{Hook: l.Hook, Runs: int64(i) << 40, P95MS: l.ElapsedMS})
		}
		m.Update(n)
		for range rapid.IntRange(0, 8).Draw(t, "keys") {
			m.press(rapid.SampledFrom([]string{"tab", "down", "f", "/", "x", "esc", "enter", "d", "p", "?"}).Draw(t, "key"))
		}
		if rapid.Bool().Draw(t, "open") {
			m.Update(opened{entry: &journal.Entry{Run: hostileText.Draw(t, "run"), Reason: hostileText.Draw(t, "reason"), Payload: []byte(hostileText.Draw(t, "payload")),
				Results: []journal.Result{{Hook: hostileText.Draw(t, "result"), Stderr: hostileText.Draw(t, "stderr")}}}})
		}
		lines := m.screen()
		if len(lines) != m.height {
			t.Fatalf("%d lines on a screen of %d", len(lines), m.height)
		}
		for _, l := range lines {
			if w := ansi.StringWidth(l); w != m.width {
				t.Fatalf("a line is %d wide on a screen of %d: %q", w, m.width, l)
			}
			if rest := colours.ReplaceAllString(l, ""); strings.ContainsFunc(rest, unicode.IsControl) {
				t.Fatalf("a line holds control characters: %q", l)
			}
		}
	})
}

func TestMemoryStaysBoundedOverManyDispatches(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	m := newModel(140, 40)
	heap := func() uint64 {
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	send := func(from, to int) {
		for i := from; i < to; i += 100 {
			n := news{slow: true}
			for k := range 100 {
				l := line(int64(i+k), fmt.Sprintf("user/hook%d", i+k)) // worse than any machine: each of them is of its own
				l.Session, l.Reason, l.Stderr = fmt.Sprint("session", i+k), strings.Repeat("r", 4096), strings.Repeat("s", 4096)
				n.lines = append(n.lines, l)
			}
			m.Update(n)
		}
	}
	send(0, 5_000)
	before := heap()
	send(5_000, 15_000)
	m.press("p")
	send(15_000, 20_000)
	after := heap()
	if len(m.state.lines) != maxLines || len(m.state.hooks) > maxHooks || len(m.state.sessions) > maxSessions || len(m.waiting) != 1 || len(m.waiting[0].lines) != maxLines {
		t.Errorf("%d lines, %d hooks, %d sessions are kept", len(m.state.lines), len(m.state.hooks), len(m.state.sessions))
	}
	if grown := int64(after) - int64(before); grown > 16<<20 { // the lines that wait have their texts
		t.Errorf("15,000 further dispatches took %d bytes", grown)
	}
	if last := m.state.lines[maxLines-1]; last.Seq != 14_999 {
		t.Errorf("while paused line %d is shown", last.Seq)
	}
	m.press("p")
	if last := m.state.lines[maxLines-1]; last.Seq != 19_999 {
		t.Errorf("afterwards line %d is the last", last.Seq)
	}
	for range 70 {
		m.Update(news{lines: []journal.Line{line(1, "user/busy")}})
	}
	if n := len(m.state.hooks["user/busy"].recent); n != maxRecent {
		t.Errorf("%d results of a hook are kept", n)
	}
}

func TestKeysFilterChooseOpenAndDisable(t *testing.T) {
	m := newModel(100, 30)
	var disabled []string
	m.Feed = Feed{
		Run: func(_ context.Context, run string) (*journal.Entry, error) {
			return &journal.Entry{Run: run, Reason: "because", Results: []journal.Result{{Hook: "user/b", Stderr: "its stderr"}}}, nil
		},
		Disable: func(_ context.Context, id string, length time.Duration) error {
			disabled = append(disabled, fmt.Sprint(id, " ", length))
			if id == "user/b" {
				return errors.New("it is managed")
			}
			return nil
		},
	}
	denied := line(2, "user/b")
	denied.Verdict, denied.Session = hook.Deny, "other"
	m.Update(news{slow: true, lines: []journal.Line{line(1, "user/a"), denied, line(3, "user/a")}, off: map[string]string{"user/a": "x"},
		stats: []journal.HookStats{{Hook: "user/a", Runs: 5}, {Hook: "user/b", Runs: 2}}, breakers: []Breaker{{Hook: "user/b", By: "claude", Failures: 5}}})
	has := func(what string, wants ...string) {
		t.Helper()
		for _, want := range wants {
			if text := m.text(); !strings.Contains(text, want) {
				t.Errorf("%s: %q is not on the screen\n%s", what, want, text)
			}
		}
	}
	has("at first", "off user/a", "open user/b", "1 open breaker", "deny")
	m.press("/", "u", "s", "e", "r", "/", "b", "enter")
	has("filtered", "filter: user/b")
	if text := m.text(); strings.Contains(text, "user/a") {
		t.Errorf("the filter shows others\n%s", text)
	}
	m.press("esc", "f")
	has("failures", "failures and denials", "user/b")
	m.press("esc", "tab", "down")
	if l, _ := chosen(m, paneLive, m.state.shownLines(m.filter)); l.Seq != 2 {
		t.Errorf("line %d is chosen", l.Seq)
	}
	m.Update(news{lines: []journal.Line{line(4, "user/a")}})
	if l, _ := chosen(m, paneLive, m.state.shownLines(m.filter)); l.Seq != 2 {
		t.Errorf("line %d is chosen after another came", l.Seq)
	}
	m.Update(m.press("enter")())
	has("a run", "run run2", "because", "its stderr", "Esc back")
	m.press("esc", "d")
	has("the question", "disable user/b?", "2 for an hour")
	m.press("x")
	has("no", "nothing was changed")
	m.press("d")
	m.Update(m.press("u")())
	has("refused", "it is managed")
	m.press("tab", "tab", "tab", "d") // back to the hooks
	m.Update(m.press("2")())
	has("disabled", "user/a is switched off for 1h")
	if want := "[user/b 0s user/a 1h0m0s]"; fmt.Sprint(disabled) != want {
		t.Errorf("disabled %v, want %s", disabled, want)
	}
	m.Update(news{err: errors.New("the journal is gone")})
	m.press("tab")
	has("an error", "the journal is gone")
	if cmd := m.press("q"); cmd == nil {
		t.Error("q does not quit")
	}
}
