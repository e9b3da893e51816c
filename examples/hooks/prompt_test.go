package hooks_test

import (
	"strings"
	"testing"
)

// fake makes a key that is none: the parts are joined here so that no scanner
// takes this file for a leak.
func fake(parts ...string) string { return strings.Join(parts, "") }

func TestPromptSecretsBlocksKeysAndNeverRepeatsThem(t *testing.T) {
	needs(t, "python3")
	random := "q7Zt3Kp9Lw2Xv8Rb5Nc1Ym6Hd4Js0Gf"
	for _, c := range []struct{ kind, secret string }{
		{"Anthropic", fake("sk-", "ant-api03-", random)},
		{"OpenAI", fake("sk-", "proj-", random, random)},
		{"AWS", fake("AK", "IA", "QWERTYUIOPASDFGH")},
		{"GitHub", fake("gh", "p_", random, "AbCdEfGh")},
		{"GitLab", fake("gl", "pat-", random)},
		{"Google", fake("AI", "za", random, "1234567")},
		{"Slack", fake("xo", "xb-", "123456789012-", random)},
		{"Stripe", fake("sk_", "live_", random)},
		{"npm", fake("np", "m_", random, "AbCdE")},
		{"private key", fake("-----BEGIN OPENSSH ", "PRIVATE KEY-----")},
		{"password in a URL", fake("postgres://", "app:", "hunter22", "@db.internal/x")},
		{"called a secret", fake("API_", "KEY=", random)},
		{"called a secret", fake("\"client_secret\": \"", random, "\"")},
	} {
		r := run(t, "prompt-secrets", "check.py", payload("UserPromptSubmit", map[string]any{"prompt": "Hello,\nuse " + c.secret + " for it"}))
		if got := r.verdict(t); got != "deny" {
			t.Errorf("%s: got %s, want deny", c.kind, got)
			continue
		}
		if reason := r.parse(t).Reason; !strings.Contains(reason, c.kind) || !strings.Contains(reason, "line 2") {
			t.Errorf("%s: the reason is %q", c.kind, reason)
		}
		if strings.Contains(r.stdout+r.stderr, random[:8]) || strings.Contains(r.stdout+r.stderr, "hunter22") {
			t.Errorf("%s: the value is repeated: %s%s", c.kind, r.stdout, r.stderr)
		}
	}
}

func TestPromptSecretsLetsOrdinaryPromptsPass(t *testing.T) {
	needs(t, "python3")
	for _, prompt := range []string{
		"",
		"Why does the token expire after an hour?",
		"set API_KEY=your-api-key-goes-in-here-1234 in .env",
		"use " + fake("AK", "IA", "IOSFODNN7EXAMPLE") + " as in the docs",
		"commit 984ee92b3c1f5a7d9e0b2c4f6a8d1e3f5b7c9d0a broke it",
		"the secret: never_put_two_things_in_one_function_of_yours",
		"clone https://github.com/a/b and ssh://git@example.com/x",
		"sk-learn and skeleton-key",
	} {
		r := run(t, "prompt-secrets", "check.py", payload("UserPromptSubmit", map[string]any{"prompt": prompt}))
		if got := r.verdict(t); got != "none" {
			t.Errorf("%q: got %s: %s", prompt, got, r.stdout)
		}
	}
}

func TestPromptSecretsFailsWithoutQuotingThePrompt(t *testing.T) {
	needs(t, "python3")
	r := run(t, "prompt-secrets", "check.py", `{"prompt": "hush-hush`)
	if r.code != 1 || strings.Contains(r.stderr, "hush") || r.stderr == "" {
		t.Errorf("got %+v, want exit code 1 and an error without the prompt", r)
	}
}
