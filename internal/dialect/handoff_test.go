package dialect

import (
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

func TestHandoffIsTakenOnlyFromTrueAtTheStart(t *testing.T) {
	for stdout, want := range map[string]time.Duration{
		`{"async":true,"asyncTimeout":` + strings.Repeat("9", 1<<20) + `}`: 15 * time.Second,
		`{"async":true}`:                               15 * time.Second,
		"\uFEFF\n {\"async\" : true}\n":                15 * time.Second,
		`{"async":true,"asyncTimeout":2500}`:           2500 * time.Millisecond,
		`{"async":true,"async_timeout":1}`:             time.Millisecond,
		`{"async":true,"asyncTimeout":0}`:              15 * time.Second,
		`{"async":true,"asyncTimeout":-5}`:             15 * time.Second,
		`{"async":true,"asyncTimeout":1e300}`:          15 * time.Second,
		`{"async":true,"asyncTimeout":null,"x":"a}{"}`: 15 * time.Second,
		"{\"async\":true}\n{\"decision\":\"block\"}":   15 * time.Second,
		"{\n \"async\": true\n}\nworking…":             15 * time.Second,
		`{"async":true,"x":"\"}\\"}`:                   15 * time.Second,
		`{"async":true,"suppressOutput":true}`:         15 * time.Second,
		``:                                             0,
		`{"async":`:                                    0,
		`{"async":true`:                                0,
		`{"async":"true"}`:                             0,
		`{"async":1}`:                                  0,
		`{"async":false}`:                              0,
		`{"async":null}`:                               0,
		`{"Async":true}`:                               0,
		`{"async":true,"async":true}`:                  0,
		`{"async":true,"ASYNC":false}`:                 0,
		`{"async":true,"asyncTimeout":"5"}`:            0,
		`{"async":true,"decision":"block"}`:            0,
		`{"async":true,"continue":false}`:              0,
		`{"async":true,"hookSpecificOutput":{}}`:       0,
		`[{"async":true}]`:                             0,
		`text {"async":true}`:                          0,
		`{"x":{"async":true}}`:                         0,
		`{"x":1}{"async":true}`:                        0,
	} {
		handoff, ok := ReadHandoff([]byte(stdout))
		if ok != (want != 0) || ok && handoff.Timeout != want {
			t.Errorf("%.80s: %+v, %v, want %v", stdout, handoff, ok, want)
		}
		for code := range 3 {
			out, err := Read(newCall(t, hook.EventPreToolUse), Reply{Stdout: []byte(stdout), ExitCode: code})
			if got := out != nil && out.Handoff != nil; got != ok {
				t.Errorf("%.80s, exit %d: handed off %v", stdout, code, got)
			}
			if ok && (err != nil || out.Verdict != hook.NoOpinion) {
				t.Errorf("%.80s, exit %d: %+v, %v", stdout, code, out, err)
			}
		}
	}
}

func TestARefusalBesideAHandoffIsNotLost(t *testing.T) {
	out, err := Read(newCall(t, hook.EventPreToolUse), Reply{Stdout: []byte(`{"async":true,"decision":"block","reason":"R"}`)})
	if err != nil || out.Verdict != hook.Deny || out.Reason != "R" {
		t.Errorf("%+v, %v", out, err)
	}
	_, err = Read(newCall(t, hook.EventPreToolUse), Reply{Stdout: []byte(`{"async":true,"decision":"approve"}`)})
	if failureOf(t, err).Failure != hook.FailureOutput {
		t.Errorf("an allow beside a hand-off: %v", err)
	}
}

func TestReadLaterTakesTheFirstObjectThatIsNoHandoff(t *testing.T) {
	for _, tc := range []struct {
		name, stdout string
		want         hook.Verdict
		failure      hook.Failure
	}{
		{"nothing more", `{"async":true}`, hook.NoOpinion, ""},
		{"nothing at all", "", hook.NoOpinion, ""},
		{"the next line", "{\"async\":true}\n{\"decision\":\"block\"}\n", hook.Deny, ""},
		{"the same line", `{"async":true} {"decision":"block"}`, hook.Deny, ""},
		{"behind noise and another hand-off", "{\"async\":true}\nworking {…}\n{\"async\":true}\n{\"decision\":\"block\"}", hook.Deny, ""},
		{"the first of two", "{\"async\":true}\n{\"decision\":\"block\"}\n{\"decision\":\"approve\"}", hook.Deny, ""},
		{"over several lines", "{\"async\":true}\n{\n\"decision\":\n\"block\"}\ndone", hook.Deny, ""},
		{"without a hand-off", `{"decision":"block"}`, hook.Deny, ""},
		{"noise alone", "{\"async\":true}\nworking\ndone\n", hook.NoOpinion, ""},
		{"one that never ends", "{\"async\":true}\n{\"decision\":\"block\"", hook.NoOpinion, hook.FailureOutput},
		{"one that ends within a text", "{\"async\":true}\n{\"decision\":\"bl", hook.NoOpinion, hook.FailureOutput},
		{"one that ends within an escape", "{\"async\":true}\n{\"decision\":\"bl\\", hook.NoOpinion, hook.FailureOutput},
		{"a broken one", "{\"async\":true}\n{oops}", hook.NoOpinion, hook.FailureOutput},
		{"binary noise", "{\"async\":true}\n\x00\xff", hook.NoOpinion, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, err := Reader{}.ReadLater(newCall(t, hook.EventPreToolUse), []byte(tc.stdout))
			if got := failureOf(t, err); got.Failure != tc.failure {
				t.Fatalf("error %v, want %q", err, tc.failure)
			}
			if err == nil && (out.Verdict != tc.want || out.Handoff != nil) {
				t.Errorf("%+v, want %v", out, tc.want)
			}
		})
	}
}
