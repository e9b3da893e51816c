package wire_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/plugins/internal/wire"
	"github.com/tenterhook/tenterhook/plugins/proto"
)

// ask reads an answer of a hook for an event.
func ask(ev hook.Event, r *proto.HandleResponse) (*hook.Output, *hook.Report, error) {
	var in hook.Input = hook.Stop{}
	if ev == hook.EventPreToolUse {
		in = hook.PreToolUse{ToolName: "Bash", ToolInput: json.RawMessage(`{}`)}
	}
	c := &hook.Call{Hook: &hook.Hook{Name: "a", Event: ev, Kind: hook.KindPlugin}, Input: in}
	out, err := wire.Read(dialect.Reader{}, c, r)
	return out, &c.Report, err
}

func TestPanicIsToldByItsFirstWords(t *testing.T) {
	long := "boom\n" + strings.Repeat("goroutine 1\n", 5000)
	_, report, err := ask(hook.EventStop, &proto.HandleResponse{Panicked: true, Stderr: long})
	var failed *hook.Error
	if !errors.As(err, &failed) || failed.Failure != hook.FailurePanic || failed.Reason != "it panicked: boom" {
		t.Errorf("got %v", err)
	}
	if len(report.Stderr) > 9<<10 || !strings.HasSuffix(report.Stderr, "goroutine 1") {
		t.Errorf("the report has %d bytes", len(report.Stderr))
	}
}

func TestFirstLineIsShortAndMovesNoTerminal(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "",
		"\n\n one \ntwo":         "one",
		"a\x1b[2Jb\rc\td\u202ee": "a [2Jb c de",
		"a\xff\xfeb":             "a\uFFFDb",
		strings.Repeat("x", 201): strings.Repeat("x", 200) + "…",
		strings.Repeat("€", 201): strings.Repeat("€", 200) + "…",
	} {
		if got := wire.FirstLine(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	add := func(stdout, stderr string, exit int32, panicked bool) {
		f.Add([]byte(stdout), stderr, exit, panicked, false)
	}
	add("", "", 0, false)
	add(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`, "", 0, false)
	add(`{"decision":"block","reason":"no"}`, "note\n", 0, false)
	add("", "no\x1b[2J\nmore", 2, false)
	add("noise", "it broke", 1, false)
	add(`{"async":true}`, "", 0, false)
	add("{\x00", "\xff", -1, false)
	add("", "boom\x07\ngoroutine 1", 0, true)
	f.Fuzz(func(t *testing.T, stdout []byte, stderr string, exit int32, panicked, tool bool) {
		ev := hook.EventStop
		if tool {
			ev = hook.EventPreToolUse
		}
		out, report, err := ask(ev, &proto.HandleResponse{Stdout: stdout, Stderr: stderr, ExitCode: exit, Panicked: panicked})
		if !utf8.ValidString(report.Stderr) || len(report.Stderr) > 3*(8<<10)+3 {
			t.Errorf("the report has %d bytes: %.100q", len(report.Stderr), report.Stderr)
		}
		if panicked && err == nil {
			t.Error("a panic is no failure")
		}
		if exit == 2 && !panicked && (out == nil || out.Verdict != hook.Deny && !out.Stop) && err == nil {
			t.Errorf("exit code 2 does not block: %+v", out)
		}
		if out != nil && out.Handoff != nil {
			t.Error("it hands itself off")
		}
		var failed *hook.Error
		switch {
		case err == nil:
		case !errors.As(err, &failed) || failed.Failure == "":
			t.Errorf("a failure without a kind: %v", err)
		case failed.Reason == "" || len(failed.Reason) > 2000 || strings.ContainsFunc(failed.Reason, unicode.IsControl):
			t.Errorf("a reason of %d bytes: %.200q", len(failed.Reason), failed.Reason)
		}
	})
}
