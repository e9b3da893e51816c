package webhook_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/handler/webhook"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
)

func TestTheEventIsPostedAsItIs(t *testing.T) {
	for _, test := range []struct {
		name   string
		params params
		method string
		want   map[string]string // headers
	}{
		{"by default", params{}, "POST", map[string]string{"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "tenterhook", "X-Idempotency-Key": ""}},
		{"by another method", params{"method": "put"}, "PUT", nil},
		{"with headers", params{"headers": params{"x-a": "b", "CONTENT-TYPE": "application/cloudevents+json", "User-Agent": "me"}}, "POST",
			map[string]string{"X-A": "b", "Content-Type": "application/cloudevents+json", "User-Agent": "me"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := serve(t, says(""))
			test.params["url"] = server.URL + "/a%20b/?q=1"
			out, c, err := run(t, local(t, server.URL+"/*"), declares(test.params))
			if err != nil || out == nil || out.Verdict != hook.NoOpinion {
				t.Fatal(out, err)
			}
			if len(c.Report.Warnings) > 0 {
				t.Error(c.Report.Warnings)
			}
			got := server.requests()
			if len(got) != 1 {
				t.Fatal(got)
			}
			if diff := cmp.Diff(string(c.Payload), got[0].body); diff != "" {
				t.Error(diff)
			}
			if got[0].method != test.method || got[0].uri != "/a%20b/?q=1" || "http://"+got[0].host != server.URL {
				t.Errorf("got %+v", got[0])
			}
			for name, value := range test.want {
				if got[0].header.Get(name) != value {
					t.Errorf("%s is %q", name, got[0].header.Get(name))
				}
			}
		})
	}
}

func TestTheEventIsPostedInTheHooksProtocol(t *testing.T) {
	server := serve(t, says(""))
	h := posts(server.URL)
	h.Protocol = hook.ProtocolCaliban
	if _, _, err := run(t, local(t, server.URL), h); err != nil {
		t.Fatal(err)
	}
	var got struct{ Tool struct{ Name string } }
	if err := json.Unmarshal([]byte(server.requests()[0].body), &got); err != nil || got.Tool.Name != "Bash" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestTheBodyDecidesAndTheStatusNever(t *testing.T) {
	deny := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"not on main"}}`
	for _, test := range []struct {
		status  int
		body    string
		verdict hook.Verdict
		failure hook.Failure
	}{
		{200, "", hook.NoOpinion, ""},
		{204, "", hook.NoOpinion, ""},
		{202, " \n", hook.NoOpinion, ""},
		{200, "{}", hook.NoOpinion, ""},
		{200, deny, hook.Deny, ""},
		{201, "\uFEFF" + deny + "\n", hook.Deny, ""},
		{200, "ok", 0, hook.FailureOutput},
		{200, "[" + deny + "]", 0, hook.FailureOutput},
		{200, deny + "x", 0, hook.FailureOutput},
		{200, "<html>", 0, hook.FailureOutput},
		{200, `{"decision":"block","decision":"approve"}`, 0, hook.FailureOutput},
		{400, deny, 0, hook.FailureExit},
		{401, "", 0, hook.FailureExit},
		{403, `{"decision":"block","reason":"no"}`, 0, hook.FailureExit},
		{404, "", 0, hook.FailureExit},
		{418, "", 0, hook.FailureExit},
		{500, deny, 0, hook.FailureExit},
		{503, "", 0, hook.FailureExit},
		{599, "", 0, hook.FailureExit},
	} {
		server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(test.status)
			_, _ = io.WriteString(w, test.body)
		})
		out, _, err := run(t, local(t, server.URL), posts(server.URL))
		if test.failure == "" {
			if err != nil || out.Verdict != test.verdict {
				t.Errorf("%d %s: %+v, %v", test.status, test.body, out, err)
			}
			continue
		}
		kind, text := failure(t, err)
		if kind != test.failure || out != nil && out.Verdict != hook.NoOpinion {
			t.Errorf("%d %s: %+v, %v", test.status, test.body, out, err)
		}
		if kind == hook.FailureExit && !strings.Contains(text, fmt.Sprint(test.status)) {
			t.Errorf("%d: %s", test.status, text)
		}
	}
}

func TestALongTextIsKeptInAFile(t *testing.T) {
	server := serve(t, says(`{"systemMessage":"`+strings.Repeat("x", 20_000)+`"}`))
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", t.TempDir())
	out, c, err := run(t, local(t, server.URL), posts(server.URL))
	if err != nil || !strings.Contains(out.SystemMessage, "tenterhook-spill-systemMessage-") || len(c.Report.Warnings) != 1 {
		t.Errorf("%v, %v, %v", out, c.Report.Warnings, err)
	}
}

func TestNoURLIsAllowedThatNobodyListed(t *testing.T) {
	server := serve(t, says(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`))
	for name, patterns := range map[string][]string{
		"nil": nil, "empty": {}, "another": {"https://hooks.example.com/*"}, "another path": {server.URL + "/b"}, "unreadable": {"localhost:*", "http://*@*"},
	} {
		h := webhook.New(webhook.Options{})
		h.Configure(dialect.Settings{AllowedHTTPHookURLs: patterns, AllowLocalHTTPHookTargets: yes()})
		out, _, err := run(t, h, posts(server.URL+"/a"))
		kind, text := failure(t, err)
		if out != nil || kind != hook.FailureStart || !strings.Contains(text, "allowed_http_hook_urls") || !strings.Contains(text, server.URL+"/*") {
			t.Errorf("%s: %v, %v", name, out, err)
		}
		_ = h.Close()
	}
	h := webhook.New(webhook.Options{})
	defer h.Close()
	if _, _, err := run(t, h, posts(server.URL)); err == nil {
		t.Error("a handler without settings called")
	}
	if n := len(server.requests()); n != 0 {
		t.Errorf("%d requests came", n)
	}
}
