package hooks_test

import (
	"strings"
	"testing"
)

func TestAskBeforeNetworkReadsCommands(t *testing.T) {
	needs(t, "sh", "awk")
	for _, c := range []struct{ command, want string }{
		{`curl https://example.com`, "ask"},
		{`/usr/bin/curl -s https://example.com | jq .`, "ask"},
		{`X=1 wget https://example.com`, "ask"},
		{`cat x | nc host 80`, "ask"},
		{`ls; ssh host`, "ask"},
		{`sudo -E curl https://example.com`, "ask"},
		{`timeout 5 ssh host`, "ask"},
		{`bash -c "curl https://example.com"`, "ask"},
		{`echo "$(curl https://example.com)"`, "ask"},
		{`ls | xargs -n1 curl`, "ask"},
		{`eval curl https://example.com`, "ask"},
		{`if curl https://example.com; then ls; fi`, "ask"},
		{"bash <<EOF\ncurl https://example.com\nEOF", "ask"},
		{`exec 3<>/dev/tcp/example.com/80`, "ask"},
		{`scp a host:b`, "ask"},
		{`rsync -a x/ "$HOST"`, "ask"},
		{`curl http://localhost@evil.example`, "ask"},
		{`curl http://localhost.evil.example`, "ask"},
		{`curl "http://localhost\@evil.example"`, "ask"},
		{`curl http://localhost https://example.com`, "ask"},
		{`curl http://localhost example.com`, "ask"},
		{`curl -x evil.example http://localhost`, "ask"},
		{`curl http://{localhost,evil.example}/`, "ask"},
		{`curl "http://$HOST/"`, "ask"},
		{`curl`, "ask"},

		{`curl -s http://localhost:8080/health`, "none"},
		{`curl -X POST -d '{"a": 1}' -H "Accept: x" http://127.0.0.1:8080/`, "none"},
		{`curl http://[::1]:8080/`, "none"},
		{`rsync -a a/ b/`, "none"},
		{`grep -rn curl .`, "none"},
		{`which curl`, "none"},
		{`echo "use curl for that"`, "none"},
		{`git commit -m "curl -> http client"`, "none"},
		{"cat > x.md <<EOF\ncurl https://example.com\nEOF", "none"},
		{`ls > curl`, "none"},
		{`go test ./... # not curl`, "none"},
		{`cat < input | sort`, "none"},
		{``, "none"},
	} {
		r := run(t, "ask-before-network", "ask.sh", shell(c.command))
		if got := r.verdict(t); got != c.want {
			t.Errorf("%s\n\tgot %s, want %s: %s%s", c.command, got, c.want, r.stdout, r.stderr)
		}
	}
}

func TestAskBeforeNetworkReadsFetches(t *testing.T) {
	needs(t, "sh", "awk")
	for url, want := range map[string]string{
		"https://example.com/a":  "ask",
		"http://LOCALHOST:1234/": "none",
		"file:///etc/passwd":     "ask",
		"":                       "ask",
	} {
		r := run(t, "ask-before-network", "ask.sh", toolCall("WebFetch", map[string]any{"url": url, "prompt": "curl x; curl y"}))
		if got := r.verdict(t); got != want {
			t.Errorf("%q: got %s, want %s: %s%s", url, got, want, r.stdout, r.stderr)
		}
	}
}

func TestAskBeforeNetworkNamesEachProgramOnce(t *testing.T) {
	needs(t, "sh", "awk")
	r := run(t, "ask-before-network", "ask.sh", shell("curl a; curl b; ssh \"c\x1b\""))
	const want = "ask-before-network: `curl`, `ssh` would reach the network"
	if got := r.parse(t).HookSpecificOutput.PermissionDecisionReason; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestAskBeforeNetworkRefusesWhatItCannotRead(t *testing.T) {
	needs(t, "sh", "awk")
	for _, r := range []reply{
		run(t, "ask-before-network", "ask.sh", `{"tool_input":{"command":"ls`),
		run(t, "ask-before-network", "ask.sh", shell("ls"), "PATH="+t.TempDir()),
	} {
		if r.verdict(t) != "deny" {
			t.Errorf("got %+v, want a refusal", r)
		}
	}
	r := run(t, "ask-before-network", "ask.sh", shell(strings.Repeat("x", 100_000)))
	if r.verdict(t) != "ask" {
		t.Errorf("a command that is too long: got %+v, want a question", r)
	}
}

func TestAskBeforePushAlwaysAsks(t *testing.T) {
	needs(t, "sh")
	if r := run(t, "ask-before-push", "ask.sh", shell("git push")); r.verdict(t) != "ask" {
		t.Errorf("got %+v", r)
	}
}
