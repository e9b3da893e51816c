package plugins

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/process"
	"github.com/tenterhook/tenterhook/internal/supervise"
	"github.com/tenterhook/tenterhook/plugins/proto"
)

// Each word of a handshake counts.
func TestHandshakeIsTakenOrRefusedByEachOfItsWords(t *testing.T) {
	certificate := strings.Repeat("A", 51)
	for line, want := range map[string]string{
		"1|1|unix|/run/s/a|grpc":                          "1 unix /run/s/a false",
		"1|2|unix|/run/s/./x/../a|grpc|":                  "2 unix /run/s/./x/../a false",
		"1|1|unix|/run/s/a|grpc|" + certificate[1:]:       "1 unix /run/s/a false",
		"1|1|unix|/run/s/a|grpc|" + certificate + "|more": "1 unix /run/s/a true",
		"1|1|tcp|127.0.0.1:80|grpc|" + certificate:        "1 tcp 127.0.0.1:80 true",
		"1|1|tcp|[::1]:80|grpc|" + certificate:            "1 tcp [::1]:80 true",
		"1|1|tcp|127.0.0.1:80|grpc":                       CodeUnsecured + ": it listens on tcp 127.0.0.1:80 and shows no certificate",
		"1|1|tcp|127.0.0.1|grpc|" + certificate:           CodeAddress + ": it listens on tcp 127.0.0.1, which others can reach",
		"1|1|tcp|localhost:80|grpc|" + certificate:        CodeAddress + ": it listens on tcp localhost:80, which others can reach",
		"1|1|tcp|0.0.0.0:80|grpc|" + certificate:          CodeAddress + ": it listens on tcp 0.0.0.0:80, which others can reach",
		"1|1|udp|127.0.0.1:80|grpc|" + certificate:        CodeAddress + ": it listens on udp 127.0.0.1:80, which this host does not know",
		"1|1|unix|/run/s/x/a|grpc":                        CodeAddress + ": it listens on unix /run/s/x/a, outside of the folder that it was given",
		"1|1|unix|/run/sx|grpc":                           CodeAddress + ": it listens on unix /run/sx, outside",
		"1|1|unix|a|grpc":                                 CodeAddress + ": it listens on unix a, outside",
		"1|3|unix|/run/s/a|grpc":                          CodeVersion + ": it speaks version 3 of the protocol, this host 1 and 2",
		"1|x|unix|/run/s/a|grpc":                          CodeGarbage + ": its version is no number",
		"2|1|unix|/run/s/a|grpc":                          CodeGarbage + ": it speaks another kind of go-plugin's handshake",
		"1|1|unix|/run/s/a|netrpc":                        CodeGarbage + `: it serves "netrpc", not grpc`,
		"1|1|unix|/run/s/a":                               CodeGarbage + ": its first line on stdout is no handshake",
		"":                                                CodeGarbage + ": its first line on stdout is no handshake",
	} {
		h, p := parseHandshake(line, "/run/s/", []int{1, 2})
		got := fmt.Sprint(h.version, " ", h.network, " ", h.address, " ", h.certified)
		if p != nil {
			got = p.Code + ": " + p.Reason
			if p.Hint == "" {
				t.Errorf("%q: no hint", line)
			}
		}
		if !strings.HasPrefix(got, want) || p == nil && got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	for text, want := range map[string]string{"a b \r\nmore": "a b", "\n": "", "x": "EOF", strings.Repeat("x", maxHandshake): errTooLong.Error(),
		strings.Repeat("x", maxHandshake-1) + "\n": strings.Repeat("x", maxHandshake-1)} {
		line, err := readHandshake(strings.NewReader(text))
		if err != nil {
			line = err.Error()
		}
		if line != want {
			t.Errorf("%.20q: %.80q, want %.80q", text, line, want)
		}
	}
}

// A plugin gets the usual variables, the ones that were granted, and no more.
func TestEnvironIsTheUsualAndTheGranted(t *testing.T) {
	host := []string{"HOME=/me", "PATH=/bin:bin:/usr/bin", "TMPDIR=/t", "LANG=C", "LANGUAGE=en", "TZ=UTC", "LC_ALL=C", "LC_TIME=de", "LCX=1", "XPATH=/x",
		"home=/you", "SECRET=x", "OWN=a=b", "EMPTY=", "NONE", "SYSTEMROOT=x"}
	want := []string{"HOME=/me", "PATH=/bin:/usr/bin", "TMPDIR=/t", "LANG=C", "LANGUAGE=en", "TZ=UTC", "LC_ALL=C", "LC_TIME=de"}
	if filepath.ListSeparator != ':' {
		t.Skip("Windows has other variables")
	}
	if diff := cmp.Diff(want, handedDown(host)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(append(slices.Clone(want), "OWN=a=b", "EMPTY="), handedDown(host, []string{"OWN", "MISSING"}, []string{"EMPTY", "OW"})); diff != "" {
		t.Errorf("granted: -want +got:\n%s", diff)
	}
}

// What a plugin writes to stderr is a record of its level, or a line.
func TestLineOfAPluginIsARecord(t *testing.T) {
	many := `{"@message":"m"`
	for i := range 70 {
		many += fmt.Sprintf(`,"k%02d":1`, i)
	}
	many += "}"
	for line, want := range map[string]string{
		"":                                  "",
		" \t":                               "",
		"all is well":                       "DEBUG all is well []",
		"panic: boom":                       "ERROR panic: boom []",
		"fatal error: all goroutines":       "ERROR fatal error: all goroutines []",
		"a panic: boom":                     "DEBUG a panic: boom []",
		"\xff\x1b[2J":                       "DEBUG \uFFFD [2J []",
		`{"@message":"m","@level":"trace"}`: "DEBUG-4 m []",
		`{"@message":"m","@level":"debug"}`: "DEBUG m []",
		`{"@message":"m","@level":"info"}`:  "INFO m []",
		`{"@message":"m","@level":"WARN"}`:  "WARN m []",
		`{"@message":"m","@level":"error"}`: "ERROR m []",
		`{"@message":"m","@level":"loud"}`:  "INFO m []",
		`{"@message":"m","@level":5}`:       "INFO m []",
		`{"@message":"m"}`:                  "INFO m []",
		`{"@message":5}`:                    `DEBUG {"@message":5} []`,
		`{"message":"m"}`:                   `DEBUG {"message":"m"} []`,
		`{"@message":"m"`:                   `DEBUG {"@message":"m" []`,
		`["@message"]`:                      `DEBUG ["@message"] []`,
		`{"@message":"m","b":1,"a":"x","@module":"y","plugin":"z"}`: "INFO m [a=x b=1]",
		many: "INFO m 64",
	} {
		got := ""
		l := slog.New(taking{slog.LevelDebug - 8, func(r slog.Record) {
			var attrs []string
			r.Attrs(func(a slog.Attr) bool {
				if a.Key == pluginKey {
					if a.Value.String() != "guard" {
						t.Errorf("%s: it is of %s", line, a.Value)
					}
					return true
				}
				attrs = append(attrs, a.String())
				return true
			})
			got = fmt.Sprint(r.Level, " ", r.Message, " ", attrs)
			if len(attrs) > 10 {
				got = fmt.Sprint(r.Level, " ", r.Message, " ", len(attrs))
			}
		}})
		logLine(l, "guard", []byte(line))
		if got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	logLine(slog.New(taking{slog.LevelWarn, func(r slog.Record) { t.Errorf("nobody wants to know %s", r.Message) }}), "guard", []byte(`{"@message":"m"}`))
	logLine(slog.New(taking{slog.LevelWarn, func(r slog.Record) { t.Errorf("nobody wants to know %s", r.Message) }}), "guard", []byte(`m`))
}

// taking is a slog.Handler that hands over records of a level and above.
type taking struct {
	level slog.Level
	take  func(slog.Record)
}

func (h taking) Enabled(_ context.Context, l slog.Level) bool  { return l >= h.level }
func (h taking) Handle(_ context.Context, r slog.Record) error { h.take(r); return nil }
func (h taking) WithAttrs([]slog.Attr) slog.Handler            { return h }
func (h taking) WithGroup(string) slog.Handler                 { return h }

// A call that comes between two starts says how often the plugin failed, why, and
// when it is started again.
func TestCallBetweenTwoStartsSaysWhyThePluginDoesNotRun(t *testing.T) {
	u := &unit{path: "/p"}
	why := &Problem{Code: CodeExited, Reason: "it ended", Hint: "look"}
	p := u.problem(&supervise.PauseError{Last: why, Failed: 3, Wait: 200*time.Millisecond + time.Microsecond})
	if p == nil || p.Code != CodeBackoff || p.Path != "/p" || p.Hint != "look" || !errors.Is(p, why) ||
		p.Reason != "it failed 3 times in a row and is not started for another 200ms; last: it ended" {
		t.Errorf("%+v", p)
	}
}

// Each way in which a call can end without an answer is told apart.
func TestCallWithoutAnAnswerSaysWhy(t *testing.T) {
	h := New(Options{})
	defer h.Close()
	in := &instance{service: finished(t, "echo a b >&2; exit 3")}
	in.run = &runner{service: in.service}
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(hook.ErrTimeout)
	nearly, end := context.WithTimeoutCause(t.Context(), 40*time.Millisecond, hook.ErrTimeout)
	defer end()
	hour, end := context.WithTimeout(t.Context(), time.Hour)
	defer end()
	for name, tc := range map[string]struct {
		ctx     context.Context
		code    codes.Code
		failure hook.Failure // "" = the cause of the context
		reason  string
		doubt   bool
	}{
		"the caller's time is up":       {ended, codes.DeadlineExceeded, "", "", true},
		"the caller left":               {ended, codes.Canceled, "", "", true},
		"it nearly is, for the plugin":  {nearly, codes.DeadlineExceeded, "", "", true},
		"its own clock, much too soon":  {hour, codes.DeadlineExceeded, hook.FailureExit, "the plugin ended in mid-call: exit code 3", false},
		"the connection":                {hour, codes.Unavailable, hook.FailureExit, "the plugin ended in mid-call: exit code 3", false},
		"it was cancelled there":        {hour, codes.Canceled, hook.FailureExit, "the plugin ended in mid-call: exit code 3", false},
		"it is not served":              {ended, codes.Unimplemented, hook.FailureTransport, "it does not serve Handle: words", true},
		"no such hook":                  {hour, codes.NotFound, hook.FailureStart, "it has no such hook: words", false},
		"an error, and it is dead":      {hour, codes.Internal, hook.FailureExit, "the plugin ended in mid-call: exit code 3", false},
		"an answer too large of others": {hour, codes.ResourceExhausted, hook.FailureExit, "the plugin ended in mid-call: exit code 3", false},
	} {
		c := &hook.Call{}
		err := h.failed(tc.ctx, in, c, &proto.HandleRequest{}, status.Error(tc.code, "words\nmore"))
		if tc.failure == "" {
			if !errors.Is(err, hook.ErrTimeout) {
				t.Errorf("%s: %v", name, err)
			}
		} else {
			expect(t, err, tc.failure, tc.reason)
			var failed *hook.Error
			if errors.As(err, &failed) && (failed.Hint == "" || failed.Err == nil) {
				t.Errorf("%s: no hint says what to do about %v", name, err)
			}
		}
		if doubtful(err) != tc.doubt {
			t.Errorf("%s: doubt %v of %v", name, !tc.doubt, err)
		}
		if tc.failure == hook.FailureExit && (c.Report.ExitCode == nil || *c.Report.ExitCode != 3 || c.Report.Stderr != "a b") {
			t.Errorf("%s: the report has %+v", name, c.Report)
		}
	}
	unavailable := func() error {
		return h.failed(hour, in, &hook.Call{}, &proto.HandleRequest{}, status.Error(codes.Unavailable, "words"))
	}
	fell(in, &Problem{Code: CodeExited, Reason: "it ended"}) // by itself
	expect(t, unavailable(), hook.FailureExit, "the plugin ended in mid-call: exit code 3")
	fell(in, &Problem{Code: CodeUnhealthy, Reason: "it did not answer", Hint: "fix it"})
	fell(in, closedProblem()) // which is why it is ended no more
	err := unavailable()
	expect(t, err, hook.FailureTransport, "the plugin was stopped in mid-call: it did not answer")
	var failed *hook.Error
	if !errors.As(err, &failed) || failed.Hint != "fix it" {
		t.Errorf("%+v", err)
	}
	alive := &instance{service: running(t, "sleep 60")}
	alive.run = &runner{service: alive.service}
	err = h.failed(hour, alive, &hook.Call{}, &proto.HandleRequest{}, status.Error(codes.Internal, "words\nmore"))
	expect(t, err, hook.FailureExit, "it failed: words")
	if status.Code(errors.Unwrap(err)) != codes.Internal {
		t.Errorf("%v has lost its cause", err)
	}
	if doubtful(err) {
		t.Errorf("an error of its own makes it doubtful: %v", err)
	}
	for _, code := range []codes.Code{codes.Unavailable, codes.Canceled, codes.DeadlineExceeded} {
		err := h.failed(hour, alive, &hook.Call{}, &proto.HandleRequest{}, status.Error(code, "words\nmore"))
		expect(t, err, hook.FailureTransport, "the way to the plugin broke: words")
		if status.Code(errors.Unwrap(err)) != code {
			t.Errorf("%v has lost its cause", err)
		}
	}
	for text, want := range map[string]string{"": "", "x\npanic: a b\nmore": "panic: a b", "fatal error: x\n": "fatal error: x", "no panic: x": "", " panic: x": ""} {
		if got, said := panicLine(text); got != want || said != (want != "") {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// finished is a process that has ended, running one that has not.
func finished(t *testing.T, script string) *process.Service {
	t.Helper()
	s := running(t, script)
	<-s.Done()
	return s
}

func running(t *testing.T, script string) *process.Service {
	t.Helper()
	s, err := process.Start(process.ServiceSpec{Path: "/bin/sh", Argv: []string{"sh", "-c", script}, Dir: t.TempDir(), Env: os.Environ(), NoStdin: true, Grace: -1})
	if err != nil {
		t.Skip("no shell here, as on Windows:", err)
	}
	t.Cleanup(s.Stop)
	return s
}
