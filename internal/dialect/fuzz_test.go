package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

// saysYes reports whether an answer, read as strictly as hook.Members reads
// and by no code of this package, holds a word that allows.
func saysYes(answer []byte) bool {
	members, err := hook.Members(bytes.TrimFunc(answer, func(r rune) bool { return r == '\uFEFF' || unicode.IsSpace(r) }))
	if err != nil || !utf8.Valid(answer) {
		return false
	}
	return anyMember(members, func(key, word string, inner []hook.Member) bool {
		switch key {
		case "decision":
			return word == "approve"
		case "hookSpecificOutput", "hook_specific_output":
			return anyMember(inner, func(key, word string, inner []hook.Member) bool {
				switch key {
				case "permissionDecision", "permission_decision":
					return word == "allow"
				case "action":
					return word == "accept"
				case "decision":
					return anyMember(inner, func(key, word string, _ []hook.Member) bool {
						return key == "behavior" && word == "allow"
					})
				}
				return false
			})
		}
		return false
	})
}

func anyMember(members []hook.Member, is func(key, word string, inner []hook.Member) bool) bool {
	for _, m := range members {
		var word string
		_ = json.Unmarshal(m.Value, &word)
		inner, _ := hook.Members(m.Value)
		if is(m.Key, word, inner) {
			return true
		}
	}
	return false
}

// FuzzReply holds any answer to any event, in any protocol, to what must
// always be so.
func FuzzReply(f *testing.F) {
	var observed []struct {
		Event, Stdout, Stderr string
		Exit                  int
	}
	events := everyEvent()
	for _, file := range []string{"answers.json", "events.json"} {
		readTestdata(f, file, &observed)
		for _, o := range observed {
			for i, event := range events {
				if string(event) == o.Event {
					f.Add([]byte(o.Stdout), []byte(o.Stderr), o.Exit, uint8(i), uint8(0), false)
				}
			}
		}
	}
	for _, text := range unsoundAllows {
		if len(text) < 1000 {
			f.Add([]byte(text), []byte(nil), 0, uint8(6), uint8(1), true)
		}
	}
	f.Add([]byte(`{"action":"modify","data":{}}`), []byte("E"), 1, uint8(6), uint8(4), false)
	f.Add([]byte("{\"async\":true}\n{\"decision\":\"approve\"}"), []byte(nil), 0, uint8(6), uint8(2), false)
	f.Add([]byte(`{"terminalSequence":"\u001b]0;t\u0007","continue":false}`), []byte(nil), 0, uint8(17), uint8(3), true)

	f.Fuzz(func(t *testing.T, stdout, stderr []byte, code int, event, protocol uint8, must bool) {
		protocols := hook.Protocols()
		call := func() *hook.Call {
			c := newCall(t, events[int(event)%len(events)], withProtocol(protocols[int(protocol)%len(protocols)]))
			if must {
				mustNotFail(c)
			}
			return c
		}
		r := Reply{Stdout: stdout, Stderr: stderr, ExitCode: code}
		c := call()
		out, err := Read(c, r)
		hold(t, "Read", stdout, out, err)
		info := hook.Info(c.Hook.Event)
		handedOff := out != nil && out.Handoff != nil
		if claude := wireOf(c.Hook.Protocol) == &claudeWire; claude && code == 2 && !handedOff &&
			info.Block != hook.BlockNothing && !info.NoExit2 && (err != nil || out.Verdict != hook.Deny) {
			t.Errorf("exit 2 did not block: %+v, %v", out, err)
		}
		if code != 0 && err == nil && out.Verdict == hook.Allow && must && !info.NoPolicy && code != wireOf(c.Hook.Protocol).blockCode {
			t.Errorf("exit %d allowed under on_failure block", code)
		}
		if utf8.Valid(stderr) && out != nil && !utf8.ValidString(out.Reason+out.SystemMessage+out.Context+out.Text) {
			t.Errorf("invalid UTF-8 in %+v", out)
		}
		again, errAgain := Read(call(), r)
		if diff := cmp.Diff(out, again); diff != "" || (err == nil) != (errAgain == nil) {
			t.Errorf("read twice, read differently: %v, %v\n%s", err, errAgain, diff)
		}

		out, err = Reader{}.ReadBody(call(), stdout)
		hold(t, "ReadBody", stdout, out, err)
		out, err = Reader{}.ReadModel(call(), stdout)
		if out != nil && out.Verdict == hook.Allow {
			t.Error("a model allowed")
		}
		hold(t, "ReadModel", stdout, out, err)
		out, err = Reader{}.ReadLater(call(), stdout)
		hold(t, "ReadLater", nil, out, err)
	})
}

// hold checks what holds for every way to read an answer; nil stdout leaves
// out who said yes.
func hold(t *testing.T, how string, stdout []byte, out *hook.Output, err error) {
	t.Helper()
	if out == nil && err == nil {
		t.Errorf("%s: neither an output nor an error", how)
	}
	if err != nil {
		var failure *hook.Error
		if !errors.As(err, &failure) || failure.Failure == "" || failure.Reason == "" {
			t.Errorf("%s: error %#v is no whole failure", how, err)
		}
		if out != nil && (out.Verdict != hook.NoOpinion || out.UpdatedInput != nil || out.UpdatedToolOutput != nil ||
			out.Permission != nil || out.Elicitation != nil) {
			t.Errorf("%s: a failure that decides: %+v, %v", how, out, err)
		}
	}
	if out == nil {
		return
	}
	if stdout != nil && out.Verdict == hook.Allow && !saysYes(stdout) {
		t.Errorf("%s: allowed by %q", how, stdout)
	}
	if out.Verdict == hook.Deny && out.Reason == "" {
		t.Errorf("%s: denied without a reason", how)
	}
	for _, raw := range [][]byte{out.UpdatedInput, out.UpdatedToolOutput} {
		if raw != nil && hook.CheckJSON(raw) != nil {
			t.Errorf("%s: rewrites to %q", how, raw)
		}
	}
}
