package hooks_test

import (
	"strings"
	"testing"
)

func TestAskBeforeNetworkReadsCommands(t *testing.T) {
	judge := rules(t, "ask-before-network")
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
		if got, why := judge(shell(c.command)); got != c.want {
			t.Errorf("%s\n\tgot %s, want %s: %s", c.command, got, c.want, why)
		}
	}
}

func TestAskBeforeNetworkReadsFetches(t *testing.T) {
	judge := rules(t, "ask-before-network")
	for url, want := range map[string]string{
		"https://example.com/a":  "ask",
		"http://LOCALHOST:1234/": "none",
		"file:///etc/passwd":     "ask",
		"":                       "ask",
	} {
		if got, why := judge(toolCall("WebFetch", map[string]any{"url": url, "prompt": "curl x; curl y"})); got != want {
			t.Errorf("%q: got %s, want %s: %s", url, got, want, why)
		}
	}
}

func TestAskBeforeNetworkAsksAboutWhatItCannotRead(t *testing.T) {
	judge := rules(t, "ask-before-network")
	if got, why := judge(shell(strings.Repeat("x", 200_000))); got != "ask" {
		t.Errorf("a command that is too long: got %s, want a question: %s", got, why)
	}
}

func TestAskBeforePushAsks(t *testing.T) {
	judge := rules(t, "ask-before-push")
	for command, want := range map[string]string{
		"git push": "ask", "cd x && git -C y push origin": "ask", "sudo git --no-pager push": "ask", "bash -c 'git push'": "ask",
		"git -c alias.p=push p": "ask", "unknown git push": "ask", "git push --dry-run; git push": "ask",
		"git push --dry-run": "none", "git status": "none", "echo git push": "none", "git pull": "none",
	} {
		if got, why := judge(shell(command)); got != want {
			t.Errorf("%s: got %s, want %s: %s", command, got, want, why)
		}
	}
}
